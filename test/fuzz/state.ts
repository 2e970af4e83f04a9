import pg from 'pg';
import type { Fixtures } from './fixtures.js';

/**
 * Tables that must not change if everything is refused. Audited reads, failed logins and operators' commands
 * may be recorded.
 */
const KEPT = Object.entries({
  risk: ['reserved'],
  custody: ['balances', 'transactions', 'entries', 'openings', 'settlements', 'limits'],
  control: [
    ...['contracts', 'principals', 'accounts_policy', 'groups', 'group_members', 'halts'],
    ...['protection', 'protection_awards', 'protection_state'],
  ],
  identity: ['users', 'enrolments', 'sessions', 'revocations', 'signing_keys'],
}).flatMap(([schema, names]) => names.map((name) => `${schema}.${name}`));
/** Renewed all the time with the same content. */
const EVIDENCE = `select 'evidence ' || concat_ws(' ', account_id, venue, resource, asset, amount) as line from risk.evidence`;
const TABLES = `
  select md5(string_agg(line, '|' order by line)) as digest from (
    ${[...KEPT.map((table) => `select '${table} ' || kept::text as line from ${table} kept`), EVIDENCE].join(' union all ')}
  ) as lines`;
const HEADS = `select coalesce(max(sequence), 0) as head from generate_series(0, 2) n left join journal.records on family = 'auction' and shard = n group by n order by n`;

export interface State {
  readonly tables: string;
  /** The last record of each shard. */
  readonly heads: readonly number[];
  /** What the service shows. */
  readonly shown: ReadonlyMap<string, string>;
}

export interface Event {
  readonly type: string;
  readonly auction_id?: string;
  readonly data?: { readonly by?: string; readonly quote_id?: string };
}

/** The tables and journals, read directly, and what the service shows. */
export class ServiceState {
  private readonly pool: pg.Pool;

  constructor(
    databaseUrl: string,
    private readonly fixtures: Pick<Fixtures, 'shown'>,
  ) {
    this.pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
    this.pool.on('error', () => undefined);
  }

  async look(): Promise<State> {
    const { rows } = await this.pool.query<{ readonly digest: string }>(TABLES);
    const heads = await this.pool.query<{ readonly head: string }>(HEADS);
    const shown = await this.fixtures.shown();
    return { tables: rows[0]?.digest ?? '', heads: heads.rows.map(({ head }) => Number(head)), shown };
  }

  /** The journals' events after that state. */
  async eventsSince({ heads }: State): Promise<readonly Event[]> {
    const { rows } = await this.pool.query<{ readonly payload: string }>(
      `select payload from journal.records join unnest($1::bigint[]) with ordinality as seen (head, place) on family = 'auction' and shard = place - 1
        where sequence > head and kind = 'event' order by shard, sequence`,
      [heads],
    );
    return rows.map(({ payload }) => JSON.parse(payload) as Event);
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}
