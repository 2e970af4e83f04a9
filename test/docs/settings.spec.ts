import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { format, resolveConfig } from 'prettier';
import { settingsTable } from '#apps/operations/settings-table.js';
import { ROOT, tablesOf, textOf } from './markdown.js';

const DOCUMENT = join(ROOT, 'docs/settings.md');

describe('docs/settings.md', () => {
  it('says what the schemas say; else run `npm run docs:settings`', async () => {
    const made = await settingsTable(join(ROOT, 'apps'));
    const options = await resolveConfig(DOCUMENT);
    expect(textOf('docs/settings.md')).toBe(await format(made, { ...options, filepath: DOCUMENT }));
  });

  it('has a table for every app that has settings', () => {
    const apps = readdirSync(join(ROOT, 'apps'), { recursive: true, encoding: 'utf8' })
      .filter((path) => /^[^/]+\/config\.ts$/.test(path))
      .map((path) => path.replace('/config.ts', ''));
    const tables = tablesOf(textOf('docs/settings.md')).map(({ heading }) => heading);
    expect(tables).toEqual(apps.sort());
    expect(tables).toEqual(expect.arrayContaining(['executor', 'gateway', 'launcher', 'owner', 'projector']));
  });
});
