import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Pool } from 'pg';
import type { JournalEntry } from '#libs/journal/journal.js';

const FOLDER = import.meta.dirname;
const JOURNAL = 'journal.ndjson';
const STATES = 'states.json';

/** A release whose data every later one has to open. */
export interface Release {
  readonly version: string;
  /** What `npm run backup` of that release wrote of a cluster that was traded on. */
  readonly backup: string;
  readonly secrets: string;
  /** The schema as the migrations of that release made it. */
  readonly schema: string;
  /** What was open and what was over when the backup was taken. */
  readonly play: Play;
  /** A journal with every type of event that the release knew. */
  readonly journal: readonly JournalEntry[];
  /** The state of each auction after it, as that release kept states. */
  readonly states: Readonly<Record<string, unknown>>;
}

export interface Play {
  readonly open: {
    readonly auction_id: string;
    readonly key: string;
    readonly body: Readonly<Record<string, unknown>>;
  };
  readonly quote: { readonly quote_id: string; readonly revision: number };
  readonly over: {
    readonly auction_id: string;
    readonly status: string;
    readonly timeline: readonly unknown[];
  };
}

/** Kept where the release before it wrote others. */
export function keepJournal(version: string, records: readonly JournalEntry[], states: object): void {
  const journal = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const known = releases().at(-1)?.journal;
  if (known !== undefined && isDeepStrictEqual(known, JSON.parse(JSON.stringify(records)))) return;
  writeFileSync(path.join(releaseFolder(version), JOURNAL), journal);
  writeFileSync(path.join(releaseFolder(version), STATES), `${JSON.stringify(states)}\n`);
}

export function releaseFolder(version: string): string {
  return path.join(FOLDER, version);
}

/** One that writes the same events as the one before it has no journal of its own. */
function journalFolderOf(version: string, versions: readonly string[]): string {
  const since = versions.slice(0, versions.indexOf(version) + 1);
  const last = since.findLast((each) => existsSync(path.join(FOLDER, each, JOURNAL)));
  if (last === undefined) throw new Error(`there is no journal of ${version}, nor of a release before it`);
  return path.join(FOLDER, last);
}

export function releases(): Release[] {
  const versions = readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return versions.map((version) => {
    const text = (file: string): string => readFileSync(path.join(FOLDER, version, file), 'utf8');
    const journal = journalFolderOf(version, versions);
    return {
      version,
      backup: path.join(FOLDER, version, 'backup'),
      secrets: path.join(FOLDER, version, 'secrets.json'),
      schema: text('schema.txt'),
      play: JSON.parse(text('play.json')) as Play,
      journal: readFileSync(path.join(journal, JOURNAL), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as JournalEntry),
      states: JSON.parse(readFileSync(path.join(journal, STATES), 'utf8')) as Release['states'],
    };
  });
}

const SCHEMAS = `('identity', 'control', 'risk', 'custody', 'journal', 'completed', 'execution', 'audit')`;
const PARTS = [
  `select c.oid::regclass || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
     || case when a.attnotnull then ' not null' else '' end || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
     || case a.attidentity when 'a' then ' identity' else '' end as line
   from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
   where c.relkind = 'r' and a.attnum > 0 and not a.attisdropped and c.relnamespace::regnamespace::text in ${SCHEMAS}`,
  `select conrelid::regclass || ' ' || pg_get_constraintdef(oid) as line from pg_constraint
   where contype <> 'n' and connamespace::regnamespace::text in ${SCHEMAS}`,
  `select indexdef as line from pg_indexes where schemaname in ${SCHEMAS}`,
  `select pg_get_triggerdef(t.oid) as line from pg_trigger t join pg_class c on c.oid = t.tgrelid
   where not tgisinternal and c.relnamespace::regnamespace::text in ${SCHEMAS}`,
  `select pg_get_functiondef(oid) as line from pg_proc where pronamespace::regnamespace::text in ${SCHEMAS}`,
];

/** Everything about the tables that rows or statements could depend on, a line each and in a fixed order. */
export async function schemaText(pool: Pool): Promise<string> {
  const parts: string[] = [];
  for (const part of PARTS) {
    const { rows } = await pool.query<{ line: string }>(part);
    parts.push(...rows.map(({ line }) => line.replaceAll(/\s+/g, ' ').trim()).sort());
  }
  return `${parts.join('\n')}\n`;
}
