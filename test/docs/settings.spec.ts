import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { format, resolveConfig } from 'prettier';
import { settingsTable } from '#apps/cli/settings-table.js';
import { ROOT, tablesOf, textOf } from './markdown.js';

const DOCUMENT = join(ROOT, 'docs/reference/settings.md');

const sections = [...textOf('docs/reference/settings.md').matchAll(/^## (.*)$/gm)].map(
  ([, heading = '']) => heading,
);

describe('docs/reference/settings.md', () => {
  it('equals the schemas; otherwise run `npm run docs:settings`', async () => {
    const made = await settingsTable(join(ROOT, 'apps'));
    const options = await resolveConfig(DOCUMENT);
    expect(textOf('docs/reference/settings.md')).toBe(await format(made, { ...options, filepath: DOCUMENT }));
  });

  it('has no line over 200 characters', () => {
    const lines = textOf('docs/reference/settings.md').split('\n');
    expect(lines.filter(({ length }) => length > 200)).toEqual([]);
  });

  it('has a section for every app that has settings', () => {
    const apps = readdirSync(join(ROOT, 'apps'), { recursive: true, encoding: 'utf8' })
      .filter((path) => /^[^/]+\/config\.ts$/.test(path))
      .map((path) => path.replace('/config.ts', ''))
      .filter((app) => app !== 'cli');
    const ofApps = sections.filter((heading) => !/^(cli: |Shared by )/.test(heading));
    expect(ofApps).toEqual(apps.sort());
    expect(sections).toEqual(
      expect.arrayContaining(['settler', 'gateway', 'launcher', 'owner', 'projector']),
    );
  });

  it('has a section for every area of the command line that reads settings', () => {
    const folder = join(ROOT, 'apps/cli');
    const programs = readdirSync(folder)
      .filter(
        (file) => file.endsWith('.ts') && readFileSync(join(folder, file), 'utf8').includes(' = program('),
      )
      .map((file) => file.replace('.ts', ''))
      // It reads no settings.
      .filter((program) => program !== 'kafka');
    expect(programs.length).toBeGreaterThan(6);
    expect(programs.filter((program) => !sections.includes(`cli: ${program}`))).toEqual([]);
  });

  it('knows every setting that is defined anywhere in the command line', () => {
    const folder = join(ROOT, 'apps/cli');
    const defined = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .filter((text) => text.includes('defineConfig({'))
      .flatMap((text) => [...text.matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(([, name = '']) => name));
    expect(defined.length).toBeGreaterThan(10);
    const listed = tablesOf(textOf('docs/reference/settings.md'))
      .filter(({ heading }) => heading.startsWith('cli: ') || heading === 'Shared by command line tools')
      .flatMap(({ rows }) => rows.map(({ Variable = '' }) => Variable.replaceAll('`', '')));
    expect(defined.filter((name) => !listed.includes(name))).toEqual([]);
  });
});
