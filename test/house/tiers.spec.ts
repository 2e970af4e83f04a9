import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from './tool.js';

interface Tiers {
  readonly PARTS: Readonly<Record<string, { readonly includes: (path: string) => boolean }>>;
  readonly specsOf: (parts: readonly string[], paths: readonly string[]) => string[];
  readonly unknownParts: (names: readonly string[]) => string[];
  readonly isOfFullTier: (path: string) => boolean;
}

const { PARTS, specsOf, unknownParts, isOfFullTier } = (await import(
  path.join(ROOT, 'tools/tests/tiers.mjs')
)) as Tiers;

function seenByJest(tier: string): string[] {
  const jest = path.join(ROOT, 'node_modules/jest/bin/jest.js');
  const env = { ...process.env, TIER: tier };
  const run = spawnSync(process.execPath, [jest, '--listTests', '--json'], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  });
  const paths = JSON.parse(run.stdout.slice(run.stdout.indexOf('['))) as string[];
  return paths.map((each) => path.relative(ROOT, each)).sort();
}

const written = ['apps', 'bench', 'libs', 'test']
  .flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true }).map((file) => path.join(folder, String(file))),
  )
  .filter((file) => file.endsWith('.spec.ts') && !file.startsWith('test/house/fixtures/'))
  .sort();

describe('the tiers', () => {
  it('hold every spec of the tree once: the full one all, the other all that are not of the full one alone', () => {
    expect(seenByJest('full')).toEqual(written);
    expect(seenByJest('change')).toEqual(written.filter((file) => !isOfFullTier(file)));
  });

  it.each(Object.keys(PARTS))('have something in part %s', (part) => {
    expect(specsOf([part], written)).not.toEqual([]);
  });

  it('know which parts do not exist', () => {
    expect(unknownParts(['kafka', 'cellar', 'toString'])).toEqual(['cellar', 'toString']);
  });
});
