import pg from 'pg';
import type { Fixtures } from './fixtures.js';

/** What must stay as it is when everything is refused. Audited reads, failed logins and operators' orders are put on record as they should. */
const KEPT = Object.entries({
  risk: ['reserved'],
  custody: ['balances', 'transactions', 'entries', 'openings', 'settlements', 'limits'],
  control: [
    ...['contracts', 'principals', 'accounts_policy', 'groups', 'group_members', 'halts'],
    ...['protection', 'protection_awards', 'protection_state'],
  ],
  identity: ['users', 'enrolments', 'sessions', 'revocations', 'signing_keys'],
}).flatMap(([schema, names]) => names.map((name) => `${schema}.${name}`));
/** It is renewed all the time, and says the same. */
const EVIDENCE = `select 'evidence ' || concat_ws(' ', account_id, venue, resource, asset, amount) as line from risk.evidence`;
const TABLES = `
  select md5(string_agg(line, '|' order by line)) as digest from (
    ${[...KEPT.map((table) => `select '${table} ' || kept::text as line from ${table} kept`), EVIDENCE].join(' union all ')}
  ) as lines`;
const HEADS = `select coalesce(max(sequence), 0) as head from generate_series(0, 2) n left join journal.records on family = 'auction' and shard = n group by n order by n`;

export interface State {
  readonly tables: string;
  /** Of each shard the last record. */
  readonly heads: readonly number[];
  /** What the service tells of what stands. */
  readonly shown: ReadonlyMap<string, string>;
}

export interface Event {
  readonly type: string;
  readonly auction_id?: string;
  readonly data?: { readonly by?: string; readonly quote_id?: string };
}

/** The service's own tables and journals, read past it, and what it tells of them. */
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

  /** What the journals hold after that. */
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
