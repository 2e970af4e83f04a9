import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { codeIn, ROOT, textOf } from './markdown.js';

const DECISIONS = 'docs/decisions';
const decisions = readdirSync(join(ROOT, DECISIONS))
  .filter((name) => name !== 'README.md')
  .sort();
const documents = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`),
];
/** A path of this repository, as far as a document spells it out. */
const PATH = /^(?:apps|libs|docs|test|tools|bench|deploy)(?:\/[\w.-]+)*\/?$/;

function withoutBlocks(path: string): string {
  return textOf(path).replaceAll(/^```.*?^```$/gms, '');
}

/** The anchor of each heading, as links spell it. */
function anchorsOf(path: string): string[] {
  const headings = [...withoutBlocks(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe.each(documents)('%s', (path) => {
  it('has links that work', () => {
    for (const [, target = ''] of withoutBlocks(path).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [file = '', anchor] = target.split('#');
      const linked = file === '' ? path : normalize(join(dirname(path), file));
      expect([target, existsSync(join(ROOT, linked))]).toEqual([target, true]);
      if (anchor !== undefined) expect(anchorsOf(linked)).toContain(anchor);
    }
  });

  it('names files and folders that exist', () => {
    const named = codeIn(withoutBlocks(path)).filter((code) => PATH.test(code));
    expect(named.filter((code) => !existsSync(join(ROOT, code)))).toEqual([]);
  });
});

describe('the decisions', () => {
  it('are numbered without a gap', () => {
    expect(decisions.map((name) => Number.parseInt(name, 10))).toEqual(
      decisions.map((_, index) => index + 1),
    );
  });

  it.each(decisions)('%s has number, context, decision and consequences', (name) => {
    const text = textOf(`${DECISIONS}/${name}`);
    expect(text).toMatch(new RegExp(`^# ${Number.parseInt(name, 10)}\\. .+\n`));
    const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Context', 'Decision', 'Consequences']);
  });

  it('are all listed', () => {
    const listed = [...textOf(`${DECISIONS}/README.md`).matchAll(/\(([\w-]+\.md)\)/g)];
    const linked = listed.map(([, file]) => file);
    expect(linked.sort()).toEqual(decisions);
  });
});
