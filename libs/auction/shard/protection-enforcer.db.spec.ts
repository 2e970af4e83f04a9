import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setContractStatus } from '../admission/policy/contract-registry.js';
import { Halts } from '../admission/policy/halts.js';
import { MakerProtection } from '../admission/policy/maker-protection.js';
import { activeQuote, type AuctionState } from '../rules/state.js';
import type { ShardPorts } from './shard-ports.js';
import type { OwnerRequest } from '../protocol/protocol.js';
import { eventually } from '#libs/testing/eventually.js';
import { type ShardAnswer, LiveShard } from '#libs/testing/shards/shard-fixture.js';
import {
  cancelOrder,
  submitOrder,
  reviseOrder,
  withdrawOrder,
  type QuoteName,
} from '#libs/testing/shards/shard-orders.js';
import { accountOf, RAIN, RAIN_AT_B, ShardWorld, SNOW } from '#libs/testing/shards/shard-world.js';

/** Allows for a busy machine. */
jest.setTimeout(30_000);

const MIA = accountOf('mia');
const TERMS = { price_atoms: 500_000, quantity_atoms: 1_000_000 };

const ONE_AWARD = {
  window_ms: 60_000,
  max_awards: 1,
  max_award_notional_atoms: 1_000_000_000,
  frozen_ms: 30_000,
};

let world: ShardWorld;
let shards: LiveShard[];
/** Called with the events of every shard as soon as they may be seen. */
let onVisible: (events: string) => void;

beforeAll(async () => {
  world = await ShardWorld.open();
});
afterAll(() => world.close());
beforeEach(async () => {
  onVisible = () => undefined;
  const announce: ShardPorts['announce'] = ({ records }) => {
    onVisible(records?.payloads.join() ?? '');
  };
  shards = await Promise.all([0, 1, 2].map((shard) => LiveShard.open(world, shard, { ports: { announce } })));
});
afterEach(async () => {
  for (const shard of shards) await shard.stop();
});

function shardOf(auctionId: string): LiveShard {
  return shards[Number(auctionId[0])]!;
}

function stateOf(auctionId: string): AuctionState {
  return shardOf(auctionId).shard.book.find(auctionId)!.durable!;
}

function preflightOrder(auctionId: string): OwnerRequest {
  return { op: 'quote_preflight', auction_id: auctionId, ...TERMS, account: MIA, request_id: 'preflight' };
}

async function quotes(auctionId: string, account = MIA): Promise<QuoteName> {
  const { status, body, text } = await shardOf(auctionId).ask(submitOrder(account, auctionId, TERMS));
  if (status !== 201) throw new Error(`the quote was refused: ${text}`);
  return { auction_id: auctionId, quote_id: String(body.quote_id) };
}

/** Lets a second pass, after which the auction has its winners. */
async function closes(auctionId: string): Promise<void> {
  world.clock.leap(1_000);
  for (const shard of shards) await shard.settled();
  await eventually(() => expect(stateOf(auctionId).status).toBe('AWARDED'));
}

/** Waits until every shard has the latest policy version. */
async function policyApplied(): Promise<void> {
  const { rows } = await world.database.pool.query<{ version: number }>(
    'select version from control.version',
  );
  await eventually(() => {
    for (const { policyVersion } of shards) expect(policyVersion).toBe(rows[0]?.version);
  });
}

describe("a maker's protection", () => {
  const protection = () => new MakerProtection(world.database.pool);

  afterEach(() => protection().reset(MIA, world.now()));

  async function trips(): Promise<Record<'standing' | 'other' | 'final', string>> {
    await protection().change(MIA, ONE_AWARD, world.now());
    const won = await shards[0]!.opens('olga', { duration_ms: 1_000 });
    const standing = await shards[0]!.opens();
    const other = await shards[1]!.opens();
    const final = await shards[2]!.opens('olga', { quote_revision_policy: 'FINAL' });
    for (const auctionId of [won, standing, other, final]) await quotes(auctionId);
    await quotes(standing, accountOf('max'));
    await closes(won);
    return { standing, other, final };
  }

  it('withdraws all quotes that may be withdrawn, on every shard, as the system, and releases their reservations', async () => {
    const { standing, other, final } = await trips();
    await eventually(() => {
      for (const auctionId of [standing, other]) {
        const quote = stateOf(auctionId).books.find(({ maker }) => maker === MIA)?.quotes[0];
        expect(quote).toMatchObject({ status: 'WITHDRAWN', withdrawn_by: 'PROTECTION' });
      }
    });
    expect(activeQuote(stateOf(final), MIA)).toBeDefined();
    expect(activeQuote(stateOf(standing), accountOf('max'))).toBeDefined();
    const answer = await shardOf(other).ask({
      op: 'events',
      auction_id: other,
      after_seq: 0,
      limit: 9,
      account: MIA,
      request_id: 'r',
    });
    expect((answer.body.events as object[]).at(-1)).toMatchObject({
      kind: 'QUOTE_WITHDRAWN',
      actor: 'SYSTEM',
    });
  });

  it('withdraws active quotes also if the freeze is over before an owner learns of it', async () => {
    await protection().change(MIA, { ...ONE_AWARD, frozen_ms: 1 }, world.now());
    const won = await shards[0]!.opens('olga', { duration_ms: 1_000 });
    const standing = [await shards[0]!.opens(), await shards[1]!.opens()];
    for (const auctionId of [won, ...standing]) await quotes(auctionId);
    await closes(won);
    await eventually(() => {
      for (const auctionId of standing) expect(activeQuote(stateOf(auctionId), MIA)).toBeUndefined();
    });
    const again = await quotes(standing[1]!);
    await policyApplied();
    expect(activeQuote(stateOf(standing[1]!), MIA)?.quote_id).toBe(again.quote_id);
  });

  it('refuses quotes and preflights on every shard from the moment that the award is visible', async () => {
    await protection().change(MIA, ONE_AWARD, world.now());
    const [first, second, third] = await Promise.all(shards.map((shard) => shard.opens()));
    const final = await shards[1]!.opens('olga', { quote_revision_policy: 'FINAL' });
    const won = await shards[0]!.opens('olga', { duration_ms: 1_000 });
    await quotes(won);
    const standing = await quotes(third!);
    const answers = new Promise<ShardAnswer[]>((resolve) => {
      onVisible = (events) => {
        if (!events.includes('AUCTION_AWARDED')) return;
        const submits = [first!, second!, final].map((id) => shardOf(id).ask(submitOrder(MIA, id, TERMS)));
        const revise = shards[2]!.ask(
          reviseOrder(MIA, standing, { expected_revision: 1, quantity_atoms: 2_000_000 }),
        );
        const preflights = [first!, second!, final].map((id) => shardOf(id).ask(preflightOrder(id)));
        resolve(Promise.all([...submits, revise, ...preflights]));
      };
    });
    await closes(won);
    const frozen = { status: 422, body: { error: 'MMP_FROZEN' } };
    expect(await answers).toMatchObject(Array.from({ length: 7 }, () => frozen));
    for (const id of [first!, second!, final]) expect(activeQuote(stateOf(id), MIA)).toBeUndefined();
  });
});

describe('a market', () => {
  it('that closes voids the open auctions on it, and no others', async () => {
    const [onSnow, onRain, onTwo] = [
      await shards[0]!.opens('olga', { routes: [SNOW] }),
      await shards[1]!.opens('olga', { routes: [RAIN] }),
      await shards[2]!.opens('olga', { routes: [RAIN, RAIN_AT_B] }),
    ];
    for (const auctionId of [onSnow, onRain, onTwo]) await quotes(auctionId);
    await setContractStatus(world.database.pool, SNOW, 'CLOSED');
    await eventually(() => expect(stateOf(onSnow).status).toBe('VOIDED'));
    expect(stateOf(onSnow).cancellation).toMatchObject({ by: 'SYSTEM' });
    expect([stateOf(onRain).status, stateOf(onTwo).status]).toEqual(['OPEN', 'OPEN']);
    await setContractStatus(world.database.pool, RAIN_AT_B, 'CLOSED');
    await eventually(() => expect(stateOf(onTwo).status).toBe('VOIDED'));
    expect(stateOf(onRain).status).toBe('OPEN');
    for (const auctionId of [onSnow, onTwo]) {
      const order = submitOrder(accountOf('max'), auctionId, TERMS);
      expect(await shardOf(auctionId).ask(order)).toMatchObject({ body: { error: 'AUCTION_NOT_OPEN' } });
    }
  });
});

describe('a halt', () => {
  it('stops creates and quotes, and voids nothing', async () => {
    const error = 'VENUE_HALTED';
    const halts = new Halts(world.database.pool);
    const auctionId = await shards[1]!.opens();
    const quote = await quotes(auctionId);
    const halt = {
      halt_id: randomUUID(),
      scope: 'VENUE' as const,
      target: 'venue_a',
      what: ['CREATE', 'QUOTE'] as const,
      reason: 'test',
      by: 'operator',
    };
    expect(await halts.impose({ ...halt, created_at: world.now() }, 'request-1')).toMatchObject({ ok: true });
    await policyApplied();
    expect(await shards[1]!.ask(shards[1]!.createOrder())).toMatchObject({ status: 422, body: { error } });
    const another = submitOrder(accountOf('max'), auctionId, TERMS);
    expect(await shards[1]!.ask(another)).toMatchObject({ status: 422, body: { error } });
    expect(stateOf(auctionId).status).toBe('OPEN');
    expect(activeQuote(stateOf(auctionId), MIA)).toBeDefined();
    expect((await shards[1]!.ask(withdrawOrder(MIA, quote))).status).toBe(200);
    expect((await shards[1]!.ask(cancelOrder(accountOf('olga'), auctionId))).status).toBe(200);
    await halts.lift(halt.halt_id, { by: 'operator', request_id: 'request-2', at: world.now() });
    await policyApplied();
    await shards[1]!.opens();
  });
});

it('an award is counted once, however often its shard is recovered', async () => {
  const protection = new MakerProtection(world.database.pool);
  const twoAwards = { ...ONE_AWARD, max_awards: 2 };
  await protection.change(MIA, twoAwards, world.now());
  const won = await shards[0]!.opens('olga', { duration_ms: 1_000 });
  await quotes(won);
  await closes(won);
  await shards[0]!.stop();
  shards[0] = await LiveShard.open(world, 0);
  const standing = await shards[0].opens();
  await quotes(standing);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(activeQuote(stateOf(standing), MIA)).toBeDefined();
  await protection.reset(MIA, world.now());
});
