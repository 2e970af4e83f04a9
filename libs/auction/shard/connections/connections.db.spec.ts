import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { CreateBody } from '../../rules/commands.js';
import type { DomainEvent } from '../../rules/events.js';
import { decodeEvent } from '../../rules/event-versions.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import type { ConnectionClaim, ConnectionEnd } from '../../protocol/protocol.js';
import { eventually } from '#libs/testing/eventually.js';
import { LiveShard, type ShardAnswer } from '#libs/testing/shards/shard-fixture.js';
import { cancelOrder, submitOrder } from '#libs/testing/shards/shard-orders.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';

/** Allows for a busy machine. */
jest.setTimeout(30_000);

const MIA = accountOf('mia');
const TERMS = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
const CONNECTION = 'connection-of-mia';
const LEASE = 2_500;
const BEAT = 200;
/** No test here is about an auction's end. */
const LONG: Partial<CreateBody> = { duration_ms: 3_600_000 };

let world: ShardWorld;
let live: LiveShard;

beforeEach(async () => {
  world = await ShardWorld.open();
  live = await LiveShard.open(world);
  // All gateways have had time to find it. What a new owner waits for apart from that is tested below.
  await live.leap(LEASE);
});
afterEach(async () => {
  await live.stop();
  await world.close();
});

interface PresenceReport {
  readonly here?: readonly ConnectionClaim[];
  readonly gone?: readonly ConnectionEnd[];
  readonly whole?: boolean;
}

function reports(
  gateway: string,
  { here = [], gone = [], whole = false }: PresenceReport = {},
): Promise<ShardAnswer> {
  return live.ask({ op: 'presence', gateway, whole, here, gone });
}

function claim(attachment: number, graceMillis = 1_000): ConnectionClaim {
  return { connection_id: CONNECTION, account: MIA, attachment, grace_ms: graceMillis };
}

function end(how: ConnectionEnd['how'], attachment = 1): ConnectionEnd {
  return { connection_id: CONNECTION, attachment, how };
}

/** Opens an auction in which Mia's connection, at gateway A, has a quote. Returns the auction's id. */
async function auctionWithQuote(asked = claim(1), different: Partial<CreateBody> = {}): Promise<string> {
  const auctionId = await live.opens('olga', { ...LONG, ...different });
  expect((await reports('A', { whole: true, here: [asked] })).status).toBe(200);
  await quotes(auctionId);
  return auctionId;
}

async function quotes(auctionId: string): Promise<void> {
  const order = { ...submitOrder(MIA, auctionId, TERMS), connection_id: CONNECTION };
  const { status, text } = await live.ask(order);
  expect([status, text]).toEqual([201, expect.not.stringContaining(CONNECTION)]);
}

/** Lets time pass while these gateways report. */
async function passes(millis: number, ...gateways: string[]): Promise<void> {
  for (let gone = 0; gone < millis; gone += BEAT) {
    await live.leap(Math.min(BEAT, millis - gone));
    for (const gateway of gateways) expect((await reports(gateway)).status).toBe(200);
  }
  // Everything that this caused has been decided after this reply.
  await live.ask({ op: 'limits', account: MIA, request_id: 'r' });
  await new Promise((resolve) => setTimeout(resolve, 20));
}

function quoteIn(auctionId: string) {
  return live.shard.book.find(auctionId)?.durable?.books[0]?.quotes.at(-1);
}

function isWithdrawn(auctionId: string): Promise<void> {
  const expected = { status: 'WITHDRAWN', withdrawn_by: 'DISCONNECT' };
  return eventually(() => expect(quoteIn(auctionId)).toMatchObject(expected));
}

async function staysActive(auctionId: string, ...gateways: string[]): Promise<void> {
  await passes(LEASE + 2_000, ...gateways);
  expect(quoteIn(auctionId)?.status).toBe('ACTIVE');
}

async function restarted(): Promise<void> {
  await eventually(() => expect(live.desk.totals().unwritten).toBe(0));
  live.kill();
  live = await LiveShard.open(world);
}

async function journaled(): Promise<DomainEvent[]> {
  const records = await new PostgresJournalReader(world.database.pool, 'auction').read(0, 1, 100_000);
  return records.flatMap(({ kind, payload }) => (kind === 'event' ? [decodeEvent(payload)] : []));
}

async function noted(): Promise<object[]> {
  return (await journaled()).flatMap(({ type, data }) => (type === 'CONNECTION_NOTED' ? [data] : []));
}

describe('a watched connection that is lost', () => {
  it('has its quotes withdrawn after its grace, and their reservations released', async () => {
    const auctionId = await auctionWithQuote();
    expect(await world.reservedOf('mia')).not.toEqual([]);
    await reports('A', { gone: [end('LOST')] });
    await passes(800, 'A');
    expect(quoteIn(auctionId)?.status).toBe('ACTIVE');
    await passes(400, 'A');
    await isWithdrawn(auctionId);
    await eventually(async () => expect(await world.reservedOf('mia')).toEqual([]));

    const events = (await journaled()).map(({ type }) => type);
    expect(events.slice(-3)).toEqual(['CONNECTION_NOTED', 'QUOTE_SUBMITTED', 'QUOTE_WITHDRAWN']);
    const { text } = await live.ask({
      op: 'events',
      account: MIA,
      request_id: 'r',
      auction_id: auctionId,
      after_seq: 0,
      limit: 100,
    });
    expect(text).toContain('"withdrawn_by":"DISCONNECT"');
    expect(text).not.toContain(CONNECTION);
  });

  it('has a quote withdrawn that was not durable yet', async () => {
    const auctionId = await live.opens('olga', LONG);
    await reports('A', { whole: true, here: [claim(1, 0)] });
    live.writer.hold();
    const order = { ...submitOrder(MIA, auctionId, TERMS), connection_id: CONNECTION };
    const answer = live.ask(order);
    await eventually(() => expect(live.writer.inFlight).toBe(1));
    // Answered only when a new process would certainly know.
    const reported = reports('A', { gone: [end('LOST')] });
    live.writer.letGo();
    expect((await answer).status).toBe(201);
    expect((await reported).status).toBe(200);
    await isWithdrawn(auctionId);
  });

  it('keeps quotes that were submitted over HTTP', async () => {
    const other = await live.opens('olga', LONG);
    expect((await live.ask(submitOrder(MIA, other, TERMS))).status).toBe(201);
    const auctionId = await auctionWithQuote(claim(1, 0));
    await reports('A', { gone: [end('LOST')] });
    await isWithdrawn(auctionId);
    expect(quoteIn(other)?.status).toBe('ACTIVE');
  });
});

describe('the lease', () => {
  it('expires within three seconds if the gateway is silent', async () => {
    const auctionId = await auctionWithQuote(claim(1, 0));
    await passes(LEASE - BEAT);
    expect(quoteIn(auctionId)?.status).toBe('ACTIVE');
    await passes(500 + BEAT);
    await isWithdrawn(auctionId);
    expect(await reports('A')).toMatchObject({ status: 409, body: { error: 'presence_unknown' } });
  });

  it('does not expire during a standstill of the owner', async () => {
    const auctionId = await auctionWithQuote(claim(1, 0));
    await live.leap(60_000);
    expect((await reports('A')).status).toBe(200);
    await staysActive(auctionId, 'A');
  });
});

describe('a connection whose auctions are over', () => {
  it('is forgotten a minute after it is lost, in the journal too', async () => {
    const closed = await auctionWithQuote(claim(1, 0), { duration_ms: 1_000 });
    const cancelled = await live.opens('olga', LONG);
    await quotes(cancelled);
    expect((await live.ask(cancelOrder(accountOf('olga'), cancelled))).status).toBe(200);
    await passes(1_200, 'A');
    await eventually(() => expect(live.shard.book.find(closed)?.durable?.status).not.toBe('OPEN'));
    await reports('A', { gone: [end('LOST')] });
    await passes(40_000, 'A');
    expect((await noted()).at(-1)).toHaveProperty('grace_ms');
    await passes(21_000, 'A');
    await eventually(async () => expect((await noted()).at(-1)).not.toHaveProperty('grace_ms'));
  });
});

describe('a connection that is resumed', () => {
  it('keeps a quote whose withdrawal is decided after the resume', async () => {
    const auctionId = await auctionWithQuote(claim(1, 0));
    // One append is in flight and the next is decided, so the withdrawal has to wait for its turn.
    live.writer.hold();
    const others: Promise<ShardAnswer>[] = [];
    for (const name of ['max', 'moe']) {
      others.push(live.ask(submitOrder(accountOf(name), auctionId, TERMS)));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const lost = reports('A', { gone: [end('LOST')] });
    // The note of the loss, and the withdrawal.
    await eventually(() => expect(live.shard.queueDepth).toBeGreaterThan(1));
    const back = reports('A', { here: [claim(2, 0)] });
    live.writer.letGo();
    await Promise.all([...others, lost, back]);
    await staysActive(auctionId, 'A');
  });
});

describe('a new owner', () => {
  it('asks gateways for all connections, and keeps the quotes of those that are claimed', async () => {
    const auctionId = await auctionWithQuote();
    await restarted();
    expect((await reports('A')).status).toBe(409);
    expect((await reports('A', { whole: true, here: [claim(1)] })).status).toBe(200);
    await staysActive(auctionId, 'A');
    await reports('A', { gone: [end('LOST')] });
    await passes(1_200, 'A');
    await isWithdrawn(auctionId);
  });

  it('keeps the quotes of a connection that ended with a bye', async () => {
    const auctionId = await auctionWithQuote(claim(1, 0));
    expect((await reports('A', { gone: [end('BYE')] })).status).toBe(200);
    await restarted();
    await staysActive(auctionId);
  });

  it('knows the latest grace, also from a snapshot', async () => {
    await live.stop();
    live = await LiveShard.open(world, 0, { settings: { snapshotEvery: 5 } });
    const auctionId = await auctionWithQuote(claim(1, 0));
    await reports('A', { here: [{ connection_id: CONNECTION, account: MIA, attachment: 2 }] });
    await reports('A', { here: [claim(3, 0)] });
    const { sequence: noted } = live.writer.head;
    const other = await live.opens('olga', LONG);
    for (let more = 0; more < 5; more += 1) await live.opens('olga', LONG);
    await eventually(async () => {
      const { rows } = await world.database.pool.query<{ last: string }>(
        'select max(sequence)::text as last from journal.snapshots where shard = 0',
      );
      expect(Number(rows[0]?.last)).toBeGreaterThanOrEqual(noted);
    });
    await quotes(other);
    await restarted();
    await passes(LEASE + 600);
    await isWithdrawn(auctionId);
    await isWithdrawn(other);
  });

  it('neither undoes nor repeats a withdrawal', async () => {
    const auctionId = await auctionWithQuote(claim(1, 0));
    await reports('A', { gone: [end('LOST')] });
    await isWithdrawn(auctionId);
    await restarted();
    await passes(LEASE + 600);
    const withdrawals = (await journaled()).filter(({ type }) => type === 'QUOTE_WITHDRAWN');
    expect(withdrawals).toHaveLength(1);
  });
});
