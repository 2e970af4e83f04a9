import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** All pages of a folder, one after another. */
export function textsUnder(folder: string): string {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.md'))
    .map((name) => textOf(join(folder, name)))
    .join('\n');
}

export type TableRow = Readonly<Record<string, string>>;

export interface MarkdownTable {
  /** The heading above the table. */
  readonly heading: string;
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
}

const HEADING = /^#+ (.*)$/;
const RULE = /^\|[\s:|-]+\|$/;

/** Every table of a document, its cells by the names of their columns. */
export function tablesOf(markdown: string): MarkdownTable[] {
  const tables: MarkdownTable[] = [];
  let heading = '';
  let table: { heading: string; columns: string[]; rows: TableRow[] } | undefined;
  for (const line of markdown.split('\n')) {
    heading = HEADING.exec(line)?.[1] ?? heading;
    if (!line.startsWith('|')) {
      table = undefined;
    } else if (table === undefined) {
      table = { heading, columns: cellsOf(line), rows: [] };
      tables.push(table);
    } else if (!RULE.test(line)) {
      const cells = cellsOf(line);
      table.rows.push(Object.fromEntries(table.columns.map((column, at) => [column, cells[at] ?? ''])));
    }
  }
  return tables;
}

/** All rows of tables that have these columns and possibly more. */
export function rowsWith(path: string, ...columns: readonly string[]): TableRow[] {
  const found = tablesOf(textOf(path)).filter((table) =>
    columns.every((name) => table.columns.includes(name)),
  );
  if (found.length === 0) throw new Error(`${path} has no table with the columns ${columns.join(', ')}`);
  return found.flatMap(({ rows }) => rows);
}

/** The texts in backticks, in order. */
export function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '');
}

export interface Block {
  /** The word of the HTML comment before the fence, if there is one. */
  readonly marker: string | undefined;
  readonly language: string;
  readonly text: string;
}

/** Every fenced block of a document. */
export function blocksOf(markdown: string): Block[] {
  const fenced = /(?:<!-- (\w+) -->\n\n)?^```(\w*)\n(.*?)^```$/gms;
  return [...markdown.matchAll(fenced)].map(([, marker, language = '', text = '']) => ({
    marker,
    language,
    text,
  }));
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, line.lastIndexOf('|'))
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}
