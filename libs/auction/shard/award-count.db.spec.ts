import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { MakerProtection } from '../admission/policy/maker-protection.js';
import type { AuctionState } from '../rules/state.js';
import { eventually } from '#libs/testing/eventually.js';
import { LiveShard } from '#libs/testing/shards/shard-fixture.js';
import { submitOrder } from '#libs/testing/shards/shard-orders.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';
import type { ProtectionDesk } from './ports.js';

/** Allows for a busy machine. */
jest.setTimeout(30_000);

const MIA = accountOf('mia');
const TERMS = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
const UNAVAILABLE = { status: 503, body: { error: 'auction_owner_unavailable' } };
const FROZEN = { status: 422, body: { error: 'MMP_FROZEN' } };
const ONE_AWARD = {
  window_ms: 60_000,
  max_awards: 1,
  max_award_notional_atoms: 1_000_000_000,
  frozen_ms: 30_000,
};
const ACCEPTED = { status: 201 };

let world: ShardWorld;
let protection: MakerProtection;
let live: LiveShard;
let letCount: () => void;
/** How many awards the store was asked to count. */
let asked: number;

beforeEach(async () => {
  world = await ShardWorld.open();
  protection = new MakerProtection(world.database.pool);
  asked = 0;
  live = await LiveShard.open(world, 0, { ports: { protection: silent() } });
  await protection.change(MIA, ONE_AWARD, world.now());
});
afterEach(async () => {
  letCount();
  await live.stop();
  await world.close();
});

/** A store that counts nothing until `letCount` is called. */
function silent(): ProtectionDesk {
  const counts = new Promise<void>((resolve) => {
    letCount = resolve;
  });
  return {
    async record(awards) {
      asked += awards.length;
      await counts;
      return protection.record(awards);
    },
  };
}

function stateOf(auctionId: string): AuctionState {
  return live.shard.book.find(auctionId)!.durable!;
}

function quotes(auctionId: string, maker = MIA) {
  return live.ask(submitOrder(maker, auctionId, TERMS));
}

/** An auction that Mia wins, closed and without its outcome yet; and another auction. */
async function closed(): Promise<{ readonly won: string; readonly other: string }> {
  const won = await live.opens('olga', { duration_ms: 1_000 });
  const other = await live.opens();
  expect(await quotes(won)).toMatchObject(ACCEPTED);
  await live.leap(1_000);
  await eventually(() => expect([stateOf(won).status, asked]).toEqual(['CLOSED', 1]));
  return { won, other };
}

describe('an award that cannot be counted', () => {
  it('is made after half a second, and its maker cannot quote until it is counted', async () => {
    const { won, other } = await closed();
    await live.leap(500);
    await eventually(() => expect(stateOf(won).status).toBe('AWARDED'));
    expect(await quotes(other)).toMatchObject(UNAVAILABLE);
    const preflight = {
      op: 'quote_preflight',
      auction_id: other,
      account: MIA,
      request_id: 'preflight',
    } as const;
    expect(await live.ask({ ...preflight, ...TERMS })).toMatchObject(UNAVAILABLE);
    expect(await quotes(other, accountOf('max'))).toMatchObject(ACCEPTED);
    letCount();
    await eventually(async () => expect(await quotes(other)).toMatchObject(FROZEN));
  });

  it('is counted, and only then made, by the next owner if the owner ends meanwhile', async () => {
    const { won, other } = await closed();
    live.kill();
    live = await LiveShard.open(world, 0, { ports: { protection: silent() } });
    await eventually(() => expect(asked).toBe(2));
    expect(stateOf(won).status).toBe('CLOSED');
    expect(stateOf(won).awards).toEqual([]);
    letCount();
    await eventually(() => expect(stateOf(won).status).toBe('AWARDED'));
    expect(await quotes(other)).toMatchObject(FROZEN);
  });
});

it('an award whose count is still owed when the owner ends is counted by the next owner', async () => {
  const { won, other } = await closed();
  await live.leap(500);
  await eventually(() => expect(stateOf(won).status).toBe('AWARDED'));
  live.kill();
  live = await LiveShard.open(world);
  expect(await quotes(other)).toMatchObject(FROZEN);
});

it('an award is not counted again after a reset of the protection when its shard restarts', async () => {
  const { won, other } = await closed();
  letCount();
  await eventually(() => expect(stateOf(won).status).toBe('AWARDED'));
  await protection.reset(MIA, world.now());
  await live.stop();
  live = await LiveShard.open(world);
  expect(await quotes(other)).toMatchObject(ACCEPTED);
});

it('an outcome without winners waits for the count as well', async () => {
  const auctionId = await live.opens('olga', { duration_ms: 1_000 });
  await live.leap(1_000);
  await eventually(() => expect(stateOf(auctionId).status).toBe('CLOSED'));
  letCount();
  await eventually(() => expect(stateOf(auctionId).status).toBe('NO_AWARD'));
});
