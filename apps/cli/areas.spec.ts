import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parseCall } from '#libs/platform/terminal/parse-call.js';
import { AREAS } from './areas.js';

const areas = await Promise.all(Object.values(AREAS).map(async ({ load }) => (await load()).area));
const commands = areas.flatMap((area) => area.commands.map((command) => ({ area, command })));
/** Commands that print records or a log, which are JSON in any case. */
const ALWAYS_JSON = ['data rebuild', 'journal dump', 'migrate '];

function helpOf(area: (typeof areas)[number], typed: string): string {
  const parsed = parseCall(area, [...typed.split(' ').filter((word) => word !== ''), '--help']);
  return 'help' in parsed ? parsed.help : '';
}

describe('sotto', () => {
  it('has an npm script for each area, with the same name', () => {
    expect(areas.map(({ name }) => name)).toEqual(Object.keys(AREAS));
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>;
    };
    for (const name of Object.keys(AREAS)) {
      expect(scripts[name]).toMatch(new RegExp(`node tools/run\\.mjs apps/cli/main\\.js ${name}$`));
    }
  });

  it.each(areas)('names every command in the help of $name', (area) => {
    for (const { name, summary } of area.commands) {
      expect(helpOf(area, '')).toContain(name);
      if (name !== '') expect(helpOf(area, '')).toContain(summary);
    }
  });

  it.each(commands)('shows options and examples in the help of $area.name $command.name', (each) => {
    const help = helpOf(each.area, each.command.name);
    for (const [name, { text }] of Object.entries(each.command.options)) {
      expect(help).toMatch(new RegExp(`^ {2}--${name} .*`, 'm'));
      expect(help).toContain(text);
    }
    for (const example of each.command.examples ?? []) expect(help).toContain(example);
  });

  it.each(commands)('offers JSON output of $area.name $command.name', ({ area, command }) => {
    const isAlways = ALWAYS_JSON.includes(`${area.name} ${command.name}`);
    expect('output' in command.options).toBe(!isAlways);
  });
});
