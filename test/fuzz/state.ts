import pg from 'pg';
import type { Shown, Standing } from './shown.js';

/** What must stay as it is when everything is refused. Reads of auditors, failed logins and orders of operators are put on record as they should. */
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

export interface State {
  readonly tables: string;
  /** Of each shard the last record. */
  readonly heads: readonly number[];
  /** What people are told of what stands. */
  readonly shown: Standing;
}

export interface Event {
  readonly type: string;
  readonly at?: string;
  readonly auction_id?: string;
  readonly data?: {
    readonly by?: string;
    readonly quote_id?: string;
    readonly quote?: { readonly quote_id: string; readonly expires_at?: string };
    readonly terms?: { readonly closes_at: string };
  };
  /** From when on nobody need ask for it; undefined where that never comes. */
  readonly dueAt?: string;
}

/** What comes of itself once it is due, and moves what is set aside. */
const OF_TIME = /^(QUOTE_EXPIRED|AUCTION_(CLOSED|AWARDED|NOT_AWARDED|COMPLETED)|EXECUTION_\w+)$/;

/** Whether it is there because of the time alone, or because somebody has gone. */
export function comesOfItself({ type, at, dueAt, data }: Event): boolean {
  if (data?.by === 'DISCONNECT') return true;
  return OF_TIME.test(type) && at !== undefined && dueAt !== undefined && dueAt <= at;
}

/** What the service's own books say, read behind its back, and what it tells people. */
export class Books {
  private readonly pool: pg.Pool;

  constructor(
    databaseUrl: string,
    private readonly shown: Pick<Shown, 'look'>,
  ) {
    this.pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
    this.pool.on('error', () => undefined);
  }

  async look(): Promise<State> {
    const { rows } = await this.pool.query<{ readonly digest: string }>(TABLES);
    const heads = await this.pool.query<{ readonly head: string }>(
      'select coalesce(max(sequence), 0) as head from generate_series(0, 2) n left join journal.records on shard = n group by n order by n',
    );
    const shown = await this.shown.look();
    return { tables: rows[0]?.digest ?? '', heads: heads.rows.map(({ head }) => Number(head)), shown };
  }

  /** What the journals hold behind that. */
  async eventsSince({ heads }: State): Promise<readonly Event[]> {
    const all: Event[] = [];
    for (const [shard, head] of heads.entries()) {
      const { rows } = await this.pool.query<{ readonly payload: string }>(
        `select payload from journal.records where shard = $1 and sequence > $2 and kind = 'event'`,
        [shard, head],
      );
      for (const { payload } of rows) all.push(await this.timed(shard, JSON.parse(payload) as Event));
    }
    return all;
  }

  private async timed(shard: number, event: Event): Promise<Event> {
    if (!OF_TIME.test(event.type) || event.auction_id === undefined) return event;
    const { rows } = await this.pool.query<{ readonly payload: string }>(
      `select payload from journal.records where shard = $1 and kind = 'event' and strpos(payload, $2) > 0 order by sequence`,
      [shard, event.auction_id],
    );
    const dueAt = dueIn(
      rows.map(({ payload }) => JSON.parse(payload) as Event),
      event,
    );
    return dueAt === undefined ? event : { ...event, dueAt };
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

/** When it is due by what has been said of its auction. */
function dueIn(story: readonly Event[], { type, data }: Event): string | undefined {
  if (type !== 'QUOTE_EXPIRED')
    return story.find((event) => event.type === 'AUCTION_OPENED')?.data?.terms?.closes_at;
  const said = story.filter((event) => event.data?.quote?.quote_id === data?.quote_id);
  return said.at(-1)?.data?.quote?.expires_at;
}
