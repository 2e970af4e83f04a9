import type { Pool, PoolClient } from 'pg';
import { plusMillis, type Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { requiredInstant, utcText } from '../timestamps.js';

/**
 * Trips as soon as the awards of one window reach either maximum. Quotes are firm, so one more award could no
 * longer be refused.
 */
export interface ProtectionSettings {
  readonly window_ms: number;
  readonly max_awards: number;
  readonly max_award_notional_atoms: Atoms;
  readonly frozen_ms: number;
}

export interface CountedAward {
  readonly award_id: string;
  readonly maker: string;
  readonly notional_atoms: Atoms;
  readonly awarded_at: Instant;
}

/** The settings, and from when awards count. */
interface CountingRules extends ProtectionSettings {
  /** Awards up to this time do not count: protection was off, or was reset later. */
  readonly counts_from: Instant;
}

const COLUMNS = 'window_ms, max_awards, max_award_notional_atoms, frozen_ms';
/** The longest window. An award reported again within it, for example by a restarting owner, must still be known. */
const KEPT_MILLIS = 86_400_000;

/** The time from which awards count. Host clocks differ a little, so an award counted before must not count again. */
const FROM_HERE = `
  (select greatest($2::timestamptz, max(awarded_at)) from control.protection_awards where account_id = $1)`;

export class MakerProtection {
  constructor(private readonly pool: Pool) {}

  async settings(maker: string): Promise<ProtectionSettings | undefined> {
    const rules = (await rulesOf(this.pool, [maker])).get(maker);
    if (rules === undefined) return undefined;
    const { window_ms, max_awards, max_award_notional_atoms, frozen_ms } = rules;
    return { window_ms, max_awards, max_award_notional_atoms, frozen_ms };
  }

  async change(maker: string, settings: ProtectionSettings, at: Instant): Promise<void> {
    await this.inTurn(maker, (client) =>
      client.query(
        `insert into control.protection (account_id, counts_from, ${COLUMNS}) values ($1, ${FROM_HERE}, $3, $4, $5, $6)
         on conflict (account_id) do update set window_ms = excluded.window_ms, max_awards = excluded.max_awards,
           max_award_notional_atoms = excluded.max_award_notional_atoms, frozen_ms = excluded.frozen_ms`,
        [
          maker,
          at,
          settings.window_ms,
          settings.max_awards,
          settings.max_award_notional_atoms,
          settings.frozen_ms,
        ],
      ),
    );
  }

  /** Stops counting. A freeze in force ends at its own time or by `reset`. */
  async switchOff(maker: string): Promise<void> {
    await this.inTurn(maker, (client) =>
      client.query('delete from control.protection where account_id = $1', [maker]),
    );
  }

  /** Ends a freeze and drops the awards that led to it, so that the next award alone does not trip it again. */
  async reset(maker: string, at: Instant): Promise<void> {
    await this.inTurn(maker, async (client) => {
      await client.query(`update control.protection set counts_from = ${FROM_HERE} where account_id = $1`, [
        maker,
        at,
      ]);
      await client.query('delete from control.protection_state where account_id = $1', [maker]);
    });
  }

  /** Counts awards, each once however often it is reported. Returns the makers whose protection has tripped. */
  async record(awards: readonly CountedAward[]): Promise<readonly string[]> {
    const protectedMakers = await rulesOf(this.pool, [...new Set(awards.map((award) => award.maker))]);
    const tripped: string[] = [];
    for (const maker of [...protectedMakers.keys()].sort()) {
      const own = awards.filter((award) => award.maker === maker);
      if (await this.inTurn(maker, (client) => recordOf(client, maker, own))) tripped.push(maker);
    }
    return tripped;
  }

  /** Serializes the changes and counts of one maker across all processes. */
  private inTurn<T>(maker: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
    return withTransaction(this.pool, 'read committed', async (client) => {
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 23))', [maker]);
      return work(client);
    });
  }
}

async function recordOf(
  client: PoolClient,
  maker: string,
  awards: readonly CountedAward[],
): Promise<boolean> {
  const rules = (await rulesOf(client, [maker])).get(maker);
  if (rules === undefined) return false;
  const newAwards = (await enter(client, awards)).filter((at) => at > rules.counts_from).sort();
  const [first, last] = [newAwards[0], newAwards.at(-1)];
  if (first === undefined || last === undefined) return false;
  const tripped = await tripOf(client, maker, rules, { first, last });
  await client.query('delete from control.protection_awards where account_id = $1 and awarded_at < $2', [
    maker,
    plusMillis(last, -KEPT_MILLIS),
  ]);
  if (tripped === undefined) return false;
  await client.query(
    `insert into control.protection_state as s (account_id, tripped_at, frozen_until) values ($1, $2, $3)
     on conflict (account_id) do update set tripped_at = greatest(s.tripped_at, excluded.tripped_at),
       frozen_until = greatest(s.frozen_until, excluded.frozen_until)`,
    [maker, tripped, plusMillis(tripped, rules.frozen_ms)],
  );
  return true;
}

async function rulesOf(
  from: Pick<PoolClient, 'query'>,
  makers: readonly string[],
): Promise<ReadonlyMap<string, CountingRules>> {
  const { rows } = await from.query<CountingRules & { readonly account_id: string }>({
    name: 'protection',
    text: `select account_id, ${utcText('counts_from')} as counts_from, ${COLUMNS}
      from control.protection where account_id = any($1::text[])`,
    values: [makers],
  });
  return new Map(
    rows.map(({ account_id: maker, counts_from: from, ...settings }) => [
      maker,
      { ...settings, counts_from: requiredInstant(from) },
    ]),
  );
}

/** The times of the awards that were new. */
async function enter(client: PoolClient, awards: readonly CountedAward[]): Promise<Instant[]> {
  const { rows } = await client.query<{ at: string }>(
    `insert into control.protection_awards (award_id, account_id, awarded_at, notional_atoms)
     select * from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::bigint[]) on conflict do nothing
     returning ${utcText('awarded_at')} as at`,
    [
      awards.map((award) => award.award_id),
      awards.map((award) => award.maker),
      awards.map((award) => award.awarded_at),
      awards.map((award) => award.notional_atoms),
    ],
  );
  return rows.map(({ at }) => requiredInstant(at));
}

/** Two awards exactly one window apart are not in the same window. The column has microseconds. */
const TRIP = `
  select ${utcText('max(awarded_at)')} as tripped from (
    select awarded_at, count(*) over earlier as awards, sum(notional_atoms) over earlier as notional_atoms
    from control.protection_awards
    where account_id = $1 and awarded_at > $2 and awarded_at > $3 and awarded_at < $5
    window earlier as (
      order by awarded_at
      range between $6 * interval '1 millisecond' - interval '1 microsecond' preceding and current row)
  ) as windows
  where awarded_at >= $4 and (awards >= $7 or notional_atoms >= $8)`;

/**
 * The end of the latest window that reaches a maximum. Every window with a new award is checked, because awards can
 * be reported late and out of order.
 */
async function tripOf(
  client: PoolClient,
  maker: string,
  { counts_from, window_ms, max_awards, max_award_notional_atoms }: CountingRules,
  { first, last }: { readonly first: Instant; readonly last: Instant },
): Promise<Instant | undefined> {
  const { rows } = await client.query<{ tripped: string | null }>({
    name: 'protection-trip',
    text: TRIP,
    values: [
      ...[maker, counts_from, plusMillis(first, -window_ms), first, plusMillis(last, window_ms)],
      ...[window_ms, max_awards, max_award_notional_atoms],
    ],
  });
  const tripped = rows[0]?.tripped ?? null;
  return tripped === null ? undefined : requiredInstant(tripped);
}
