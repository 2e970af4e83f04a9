/**
 * `npm run docs:tests`: writes the tables of docs/understand/testing.md from the latest whole run of each
 * tier.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../build/tree.mjs';
import { PARTS } from './tiers.mjs';
import { byProject, slowest, TIMES } from './times.mjs';

const PAGE = join(ROOT, 'docs/understand/testing.md');
const TIERS = { change: '`npm test`', full: '`npm run test:full`' };
const SLOWEST = 20;

function filesOf(tier) {
  const kept = join(TIMES, `${tier}.json`);
  return existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : undefined;
}

const table = (head, rows) =>
  [head, head.map(() => '-'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
/** With thousands separators: a bare 4509 looks like a close code of the stream. */
const whole = (number) => Math.round(number).toLocaleString('en-US');

function tierTable(files) {
  const projects = [...byProject(files)];
  const all = projects.reduce(
    (sum, [, row]) => ({
      suites: sum.suites + row.suites,
      tests: sum.tests + row.tests,
      seconds: sum.seconds + row.seconds,
    }),
    { suites: 0, tests: 0, seconds: 0 },
  );
  const rows = [...projects, ['all', all]].map(([name, row]) => [
    name,
    whole(row.suites),
    whole(row.tests),
    whole(row.seconds),
  ]);
  return table(['Kind', 'Suites', 'Tests', 'Worker seconds'], rows);
}

function slowestTable(files) {
  const rows = slowest(files, SLOWEST).map(({ path, seconds }) => [`\`${path}\``, whole(seconds)]);
  return table(['Suite', 'Seconds'], rows);
}

function partsTable() {
  const rows = Object.entries(PARTS).map(([name, { after }]) => [`\`${name}\``, after]);
  return table(['Part', 'Run it after a change of'], rows);
}

/** Replaces the text between two marks of the page. */
function replaced(page, mark, text) {
  const [begin, end] = [`<!-- ${mark} -->`, `<!-- end of ${mark} -->`];
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`docs/understand/testing.md has no part "${mark}"`);
  return `${before}${begin}\n\n${text}\n\n${end}${after}`;
}

let page = replaced(readFileSync(PAGE, 'utf8'), 'parts', partsTable());
for (const [tier, command] of Object.entries(TIERS)) {
  const files = filesOf(tier);
  if (files === undefined) {
    console.log(`${command} has not run in this folder: its tables stay as they are`);
    continue;
  }
  page = replaced(page, `suites of ${tier}`, tierTable(files));
  page = replaced(page, `slowest of ${tier}`, slowestTable(files));
}
writeFileSync(PAGE, page);
