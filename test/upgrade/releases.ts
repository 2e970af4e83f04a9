import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Pool } from 'pg';
import type { JournalEntry } from '#libs/journal/journal.js';

const FOLDER = import.meta.dirname;

/** A release whose data every later one must open; `baseline` is from before the first. */
export interface KeptRelease {
  readonly name: string;
  /** The result of `npm run backup` on a cluster after trading. */
  readonly backup: string;
  readonly secrets: string;
  /** The schema as its migrations made it. */
  readonly schema: string;
  /** Open and finished auctions at the time of the backup. */
  readonly play: RecordedPlay;
  /** A journal with every type of event that the release knew. */
  readonly journal: readonly JournalEntry[];
  /** The state of each auction after that journal. */
  readonly states: Readonly<Record<string, unknown>>;
}

export interface RecordedPlay {
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

export function releaseFolder(name: string): string {
  return path.join(FOLDER, name);
}

export function releases(): KeptRelease[] {
  const names = readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  return names.map((name) => {
    const file = (of: string): string => path.join(releaseFolder(name), of);
    const text = (of: string): string => readFileSync(file(of), 'utf8');
    return {
      name,
      backup: file('backup'),
      secrets: file('secrets.json'),
      schema: text('schema.txt'),
      play: JSON.parse(text('play.json')) as RecordedPlay,
      journal: text('journal.ndjson')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as JournalEntry),
      states: JSON.parse(text('states.json')) as KeptRelease['states'],
    };
  });
}

const SCHEMAS = `('identity', 'control', 'risk', 'custody', 'journal', 'completed', 'auction_history', 'audit')`;
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

/** Everything about the tables that rows or statements could depend on, one line each and in a fixed order. */
export async function schemaText(pool: Pool): Promise<string> {
  const parts: string[] = [];
  for (const part of PARTS) {
    const { rows } = await pool.query<{ line: string }>(part);
    parts.push(...rows.map(({ line }) => line.replaceAll(/\s+/g, ' ').trim()).sort());
  }
  return `${parts.join('\n')}\n`;
}
