import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { blocksOf, codeIn, ROOT, rowsWith, textOf } from './markdown.js';

interface LibRule {
  readonly name: string;
  readonly to: { readonly pathNot?: string };
}

type Imports = Readonly<Record<string, readonly string[]>>;

const DOCUMENT = 'docs/understand/architecture.md';
/** Every lib may import these, so the drawing leaves them out. */
const BELOW_ALL = ['base', 'platform'];
const LIB_RULE = /^(.*)-imports-only-what-it-may$/;

/** What each lib, or part of one, may import besides itself, from the rules that are checked. */
function checkedImports(rule: RegExp): Imports {
  const config = createRequire(import.meta.url)(join(ROOT, '.dependency-cruiser.cjs')) as {
    forbidden: LibRule[];
  };
  const rules = config.forbidden.flatMap(({ name, to }) => {
    const lib = rule.exec(name)?.[1];
    const allowed = /\(([^)]*)\)/.exec(to.pathNot ?? '')?.[1]?.split('|') ?? [];
    return lib === undefined
      ? []
      : [[lib, allowed.filter((name) => name !== lib && name !== 'testing').sort()]];
  });
  return Object.fromEntries(rules) as Imports;
}

function drawnImports(): Record<string, string[]> {
  const drawing = blocksOf(textOf(DOCUMENT)).find(({ language }) => language === 'mermaid')?.text ?? '';
  const drawn: Record<string, string[]> = {};
  for (const line of drawing.split('\n').slice(1)) {
    const [from = '', to] = line.trim().split(/ --> | -\.-> /);
    if (from === '') continue;
    (drawn[from] ??= []).push(...(to === undefined ? [] : [to]));
  }
  return drawn;
}

describe('the graph of the libraries', () => {
  const checked = checkedImports(LIB_RULE);

  it('is in the table as it is checked', () => {
    const rows = rowsWith(DOCUMENT, 'Library', 'May import').filter(
      ({ Library: lib }) => lib !== '`testing`',
    );
    const told = rows.map((row) => [codeIn(row.Library ?? '')[0], codeIn(row['May import'] ?? '').sort()]);
    expect(Object.fromEntries(told)).toEqual(checked);
  });

  it.each(['auction', 'execution'])('is in a separate table for the parts of %s', (roof) => {
    const column = `Part of ${roof}`;
    const rows = rowsWith(DOCUMENT, column, 'May import of the others');
    const told = rows.map((row) => [
      codeIn(row[column] ?? '')[0],
      codeIn(row['May import of the others'] ?? '').sort(),
    ]);
    const rule = new RegExp(`^${roof}-(.*)-imports-only-these-parts$`);
    expect(Object.fromEntries(told)).toEqual(checkedImports(rule));
  });

  it('is drawn as it is checked, without the arrows to base and platform', () => {
    const drawn = drawnImports();
    for (const [lib, allowed] of Object.entries(checked)) {
      if (BELOW_ALL.includes(lib)) continue;
      const told = allowed.filter((name) => !BELOW_ALL.includes(name));
      expect([lib, (drawn[lib] ?? []).sort()]).toEqual([lib, told]);
      expect(allowed).toEqual(expect.arrayContaining([...BELOW_ALL]));
    }
    expect(Object.keys(checked)).toEqual(expect.arrayContaining(Object.keys(drawn)));
  });

  it('names every existing library', () => {
    const libs = readdirSync(join(ROOT, 'libs'));
    expect([...Object.keys(checked), 'testing'].sort()).toEqual(libs.sort());
  });
});

describe('the map', () => {
  it('names every existing process', () => {
    const apps = readdirSync(join(ROOT, 'apps')).filter((app) =>
      existsSync(join(ROOT, 'apps', app, 'main.ts')),
    );
    const told = rowsWith(DOCUMENT, 'Process', 'How many').flatMap(({ Process: cell = '' }) => codeIn(cell));
    expect([...told, 'demo'].sort()).toEqual(apps.sort());
  });
});
