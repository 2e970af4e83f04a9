import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parseCall } from '#libs/platform/terminal/parse-call.js';
import { AREAS } from './areas.js';

const areas = await Promise.all(Object.values(AREAS).map(async ({ load }) => (await load()).area));
const commands = areas.flatMap((area) => area.commands.map((command) => ({ area, command })));
/** They print records or a log, which are JSON anyway. */
const ALWAYS_JSON = ['data rebuild', 'journal dump', 'migrate '];

function helpOf(area: (typeof areas)[number], typed: string): string {
  const parsed = parseCall(area, [...typed.split(' ').filter((word) => word !== ''), '--help']);
  return 'help' in parsed ? parsed.help : '';
}

describe('sotto', () => {
  it('calls each area by its name, which is a script too', () => {
    expect(areas.map(({ name }) => name)).toEqual(Object.keys(AREAS));
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>;
    };
    for (const name of Object.keys(AREAS)) {
      expect(scripts[name]).toMatch(new RegExp(`node tools/run\\.mjs apps/cli/main\\.js ${name}$`));
    }
  });

  it.each(areas)('has help with $name that names every command', (area) => {
    for (const { name, summary } of area.commands) {
      expect(helpOf(area, '')).toContain(name);
      if (name !== '') expect(helpOf(area, '')).toContain(summary);
    }
  });

  it.each(commands)('has help with $area.name $command.name that is made of what it declares', (each) => {
    const help = helpOf(each.area, each.command.name);
    for (const [name, { text }] of Object.entries(each.command.options)) {
      expect(help).toMatch(new RegExp(`^ {2}--${name} .*`, 'm'));
      expect(help).toContain(text);
    }
    for (const example of each.command.examples ?? []) expect(help).toContain(example);
  });

  it.each(commands)('prints JSON where $area.name $command.name is asked for it', ({ area, command }) => {
    const isAlways = ALWAYS_JSON.includes(`${area.name} ${command.name}`);
    expect('output' in command.options).toBe(!isAlways);
  });
});
