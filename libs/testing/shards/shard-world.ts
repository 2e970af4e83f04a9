import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import { seedContracts, seedPolicy } from '#libs/auction/admission/policy/seed-policy.js';
import type { ContractFacts } from '#libs/auction/rules/commands.js';
import { instantFromNanos, plusMillis, type Instant } from '#libs/base/instant.js';
import { assetOf } from '#libs/auction/rules/holds.js';
import type { Hold } from '#libs/auction/rules/terms.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { seedBalances } from '#libs/ledger/seed.js';
import { journalMigrations } from '#libs/journal/migrations/list.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { projectionMigrations } from '#libs/auction/projections/migrations/list.js';
import type { FoldedAuction } from '#libs/auction/projections/folded-auction.js';
import { auctionProjection } from '#libs/auction/projections/projection.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import { uuidNamed } from '../auctions/journaled-auctions.js';
import { MovableClock } from '../movable-clock.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';

const ORIGINATORS = ['olga', 'otto'];
const MAKERS = ['mia', 'max', 'moe', 'may', 'meg', 'mo', 'mick', 'mara'];
const PLENTY = 1_000_000_000_000;
const NO_LIMIT = 1_000_000_000_000_000;
const DAY_MILLIS = 86_400_000;

/** The account of this name, the same in every world. */
export function accountOf(name: string): string {
  return uuidNamed(`account ${name}`);
}

/** Everything that the shards of a test share: a real database with policy, registry and balances, and the clock. */
export class ShardWorld {
  readonly clock = new MovableClock();
  private readonly projector: Projector<FoldedAuction>;

  private constructor(readonly database: TestDatabase) {
    this.projector = new Projector(auctionProjection, {
      inTransaction: transactionsOf(database.pool),
      clock: this.clock,
    });
  }

  static async open(): Promise<ShardWorld> {
    const database = await createTestDatabase([
      ...journalMigrations,
      ...admissionMigrations,
      ...custodyMigrations,
      ...projectionMigrations,
    ]);
    const world = new ShardWorld(database);
    await world.seed();
    return world;
  }

  now(): Instant {
    return instantFromNanos(this.clock.epochNanos());
  }

  in(millis: number): Instant {
    return plusMillis(this.now(), millis);
  }

  /** Brings the projections up to the end of all journals. */
  async project(): Promise<void> {
    const reader = new PostgresJournalReader(this.database.pool, 'auction');
    for (const [shard] of await reader.heads()) {
      const from = await this.projectedTo(shard);
      const entries = await reader.read(shard, from + 1, 100_000);
      if (entries.length > 0) await this.projector.take(shard, entries);
    }
  }

  /** The amounts that the account has reserved, over all shards, without zeros. */
  async reservedOf(name: string): Promise<Hold[]> {
    const { rows } = await this.database.pool.query<Hold>(
      `select venue, resource, asset, shard_0 + shard_1 + shard_2 as amount from risk.reserved
       where account_id = $1 and shard_0 + shard_1 + shard_2 <> 0 order by venue, resource, asset`,
      [accountOf(name)],
    );
    return rows;
  }

  /** The amounts that one shard has reserved, by account and resource. */
  async reservedBy(shard: number): Promise<Record<string, number>> {
    const { rows } = await this.database.pool.query<{ name: string; amount: number }>(
      `select account_id || '/' || venue || '/' || resource || '/' || asset as name, shard_${shard} as amount
       from risk.reserved where shard_${shard} <> 0 order by 1`,
    );
    return Object.fromEntries(rows.map(({ name, amount }) => [name, amount]));
  }

  async close(): Promise<void> {
    this.clock.forgetTimers();
    await this.database.drop();
  }

  private async projectedTo(shard: number): Promise<number> {
    const { rows } = await this.database.pool.query<{ sequence: number }>(
      'select sequence from auction_history.projection_offsets where shard = $1',
      [shard],
    );
    return rows[0]?.sequence ?? 0;
  }

  private async seed(): Promise<void> {
    const { pool } = this.database;
    const contracts = worldContracts(plusMillis(this.now(), 30 * DAY_MILLIS));
    const venues = [...new Set(contracts.map((contract) => contract.venue))];
    const names = [...ORIGINATORS, ...MAKERS];
    await seedContracts(pool, contracts);
    await seedPolicy(
      pool,
      names.map((name) => ({
        account_id: accountOf(name),
        display_name: `${name} Ltd`,
        is_maker: MAKERS.includes(name),
        is_originator: ORIGINATORS.includes(name),
        suspended: false,
        may_create: ORIGINATORS.includes(name),
        may_quote: MAKERS.includes(name),
        venues,
        max_quantity_atoms: NO_LIMIT,
      })),
    );
    const balances = names.flatMap((name) =>
      venues.map((venue) => ({
        account: accountOf(name),
        venue,
        asset: '',
        amount: PLENTY,
      })),
    );
    const limits = names.flatMap((name) => [
      { account: accountOf(name), venue: '', resource: 'SERVICE_EXPOSURE_LIMIT' as const, amount: NO_LIMIT },
      ...venues.map((venue) => ({
        account: accountOf(name),
        venue,
        resource: 'VENUE_POSITION_LIMIT' as const,
        amount: NO_LIMIT,
      })),
    ]);
    await seedBalances(pool, balances, limits, { now: this.now(), evidenceTtlMillis: DAY_MILLIS });
  }
}

/** Rain trades at two venues and settles alike at both. Snow trades at one. */
export const RAIN = { venue: 'venue_a', contract_id: 'rain', outcome: 'YES' } as const;
export const RAIN_AT_B = { venue: 'venue_b', contract_id: 'rain', outcome: 'YES' } as const;
export const SNOW = { venue: 'venue_a', contract_id: 'snow', outcome: 'YES' } as const;

function worldContracts(closesAt: Instant): ContractFacts[] {
  return [RAIN, RAIN_AT_B, SNOW].map((route) => ({
    ...route,
    title: `${assetOf(route)} at ${route.venue}`,
    equivalence_id: route.contract_id,
    price_tick_atoms: 1_000,
    quantity_step_atoms: 1_000_000,
    status: 'TRADING',
    closes_at: closesAt,
  }));
}
