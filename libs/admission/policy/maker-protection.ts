import type { Pool, PoolClient } from 'pg';
import { plusMillis, type Instant } from '#libs/auction/instant.js';
import type { Atoms } from '#libs/auction/money.js';
import { withTransaction } from '#libs/platform/database/postgres.js';

/**
 * Trips as soon as the awards of one window reach either maximum. Quotes are firm, so waiting for one more award than that
 * would be too late to refuse it.
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

const COLUMNS = 'window_ms, max_awards, max_award_notional_atoms, frozen_ms';

export class MakerProtection {
  constructor(private readonly pool: Pool) {}

  async settings(maker: string): Promise<ProtectionSettings | undefined> {
    return (await settingsOf(this.pool, [maker])).get(maker);
  }

  async change(maker: string, settings: ProtectionSettings): Promise<void> {
    await this.pool.query(
      `insert into control.protection (account_id, ${COLUMNS}) values ($1, $2, $3, $4, $5)
       on conflict (account_id) do update set window_ms = excluded.window_ms, max_awards = excluded.max_awards,
         max_award_notional_atoms = excluded.max_award_notional_atoms, frozen_ms = excluded.frozen_ms`,
      [maker, settings.window_ms, settings.max_awards, settings.max_award_notional_atoms, settings.frozen_ms],
    );
  }

  /** Counts nothing any more, and forgets what was counted. A freeze that has begun ends by its own time, or by `reset`. */
  async switchOff(maker: string): Promise<void> {
    await withTransaction(this.pool, 'read committed', async (client) => {
      await takeTurn(client, maker);
      await client.query('delete from control.protection where account_id = $1', [maker]);
      await client.query('delete from control.protection_awards where account_id = $1', [maker]);
    });
  }

  /** Ends a freeze, and forgets the awards that led to it: the next one alone does not trip it again. */
  async reset(maker: string): Promise<void> {
    await withTransaction(this.pool, 'read committed', async (client) => {
      await takeTurn(client, maker);
      await client.query('delete from control.protection_awards where account_id = $1', [maker]);
      await client.query('delete from control.protection_state where account_id = $1', [maker]);
    });
  }

  /** Counts awards, each once however often it is reported, and names the makers whose limit they have tripped. */
  async record(awards: readonly CountedAward[]): Promise<readonly string[]> {
    const set = await settingsOf(this.pool, [...new Set(awards.map((award) => award.maker))]);
    const tripped: string[] = [];
    for (const maker of [...set.keys()].sort()) {
      const own = awards.filter((award) => award.maker === maker);
      if (await this.recordOf(maker, own)) tripped.push(maker);
    }
    return tripped;
  }

  private async recordOf(maker: string, awards: readonly CountedAward[]): Promise<boolean> {
    return withTransaction(this.pool, 'read committed', async (client) => {
      await takeTurn(client, maker);
      const settings = (await settingsOf(client, [maker])).get(maker);
      const latest = awards
        .map((award) => award.awarded_at)
        .sort()
        .at(-1);
      if (settings === undefined || latest === undefined) return false;
      await enter(client, awards);
      if (!(await reached(client, maker, settings, latest))) return false;
      await client.query(
        `insert into control.protection_state as s (account_id, tripped_at, frozen_until) values ($1, $2, $3)
         on conflict (account_id) do update set tripped_at = excluded.tripped_at,
           frozen_until = greatest(s.frozen_until, excluded.frozen_until)`,
        [maker, latest, plusMillis(latest, settings.frozen_ms)],
      );
      return true;
    });
  }
}

/** Awards of one maker are counted one batch after another, from whatever shard they come. */
async function takeTurn(client: PoolClient, maker: string): Promise<void> {
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 23))', [maker]);
}

async function settingsOf(
  from: Pick<PoolClient, 'query'>,
  makers: readonly string[],
): Promise<ReadonlyMap<string, ProtectionSettings>> {
  const { rows } = await from.query<ProtectionSettings & { readonly account_id: string }>({
    name: 'protection',
    text: `select account_id, ${COLUMNS} from control.protection where account_id = any($1::text[])`,
    values: [makers],
  });
  return new Map(rows.map(({ account_id: maker, ...settings }) => [maker, settings]));
}

async function enter(client: PoolClient, awards: readonly CountedAward[]): Promise<void> {
  await client.query(
    `insert into control.protection_awards (award_id, account_id, awarded_at, notional_atoms)
     select * from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::bigint[]) on conflict do nothing`,
    [
      awards.map((award) => award.award_id),
      awards.map((award) => award.maker),
      awards.map((award) => award.awarded_at),
      awards.map((award) => award.notional_atoms),
    ],
  );
}

/** Awards that have left the window are of no more use, so the table stays as small as the windows. */
async function reached(
  client: PoolClient,
  maker: string,
  settings: ProtectionSettings,
  latest: Instant,
): Promise<boolean> {
  const windowStart = plusMillis(latest, -settings.window_ms);
  await client.query('delete from control.protection_awards where account_id = $1 and awarded_at <= $2', [
    maker,
    windowStart,
  ]);
  const { rows } = await client.query<{ reached: boolean }>(
    `select count(*) >= $2 or coalesce(sum(notional_atoms), 0) >= $3 as reached
     from control.protection_awards where account_id = $1`,
    [maker, settings.max_awards, settings.max_award_notional_atoms],
  );
  return rows[0]?.reached === true;
}
