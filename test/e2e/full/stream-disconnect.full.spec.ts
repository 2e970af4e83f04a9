import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import type { StreamClient } from '#libs/client/stream-client.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import { keyFor, StreamFloor } from '../stream-floor.js';
import { auctionBody, CONTRACT, mustBe, only, type Trader } from '../trading-floor.js';

const SHARDS = [0, 1, 2];
const GRACE_MS = 1_200;
/** How much later quotes are withdrawn if a gateway dies; a busy machine has as much again. */
const LEASE_MS = 3_000;
const MACHINE_MS = 3_000;
const STANDING = SHARDS.map(() => ['ACTIVE', undefined]);
const GONE = SHARDS.map(() => ['WITHDRAWN', 'DISCONNECT']);

jest.setTimeout(60_000);

let cluster: OwnedCluster;
let floor: StreamFloor;
let originator: Trader;

/** A maker with one quote at each owner, all submitted on one stream. */
interface Quoting {
  readonly maker: Trader;
  readonly client: StreamClient;
  readonly quotes: readonly QuoteJson[];
}

beforeAll(async () => {
  const settings = { LIMITS_FACTOR: '50', LOAD_ACCOUNTS: 'makers:40,originators:1' };
  cluster = await startCluster({ env: { GATEWAYS: '2', STREAM_HEARTBEAT_MS: '500', ...settings } });
  floor = new StreamFloor(cluster);
  originator = await floor.trader('load-originator-1');
}, 90_000);

afterAll(async () => {
  floor.close();
  await cluster.stop();
});

async function opens(maker: Trader, shard: number, differing: object = {}): Promise<AuctionJson> {
  const body = auctionBody(floor.contract('venue_c', 0), [maker], { duration_ms: 600_000, ...differing });
  return mustBe(
    201,
    await originator.create({ ...body, quantity_atoms: CONTRACT }, keyFor(originator, shard)),
  );
}

async function submit(client: StreamClient, auctionId: string): Promise<QuoteJson> {
  const terms = { auction_id: auctionId, price_atoms: 500_000, quantity_atoms: CONTRACT };
  const reply = await client.command('quote.submit', terms);
  if (reply.type === 'reject') throw new Error(`${reply.status} ${reply.error}`);
  return reply.result as QuoteJson & Record<string, unknown>;
}

let makers = 0;
/** Another maker for each case, so that the cases are independent. */
function nextMaker(): Promise<Trader> {
  makers += 1;
  return floor.trader(`load-maker-${makers}`);
}

interface Habits {
  readonly graceMs?: number | undefined;
  readonly gateway?: number;
  readonly answersPings?: false;
  readonly differing?: object;
}

async function quoting(habits: Habits = {}): Promise<Quoting> {
  const { gateway = 0, differing, ...rest } = habits;
  const graceMs = 'graceMs' in rest ? rest.graceMs : GRACE_MS;
  const pings = rest.answersPings === undefined ? {} : { answersPings: rest.answersPings };
  const maker = await nextMaker();
  const client = await floor.listen(maker.name, watched(graceMs), { gateway, ...pings });
  await client.subscribe();
  const auctions = await Promise.all(SHARDS.map((shard) => opens(maker, shard, differing)));
  const quotes = await Promise.all(auctions.map(({ auction_id: id }) => submit(client, id)));
  return { maker, client, quotes };
}

function watched(graceMs: number | undefined): object & Record<string, unknown> {
  return graceMs === undefined ? {} : { cancel_on_disconnect: { grace_ms: graceMs } };
}

/** The status of every quote and who withdrew it, from the auctions' views. */
async function standing({ maker, quotes }: Pick<Quoting, 'maker' | 'quotes'>): Promise<unknown[]> {
  const views = await Promise.all(quotes.map(({ auction_id: id }) => maker.view(id)));
  return views.map(({ my_quote: quote }) => [quote!.status, quote!.withdrawn_by]);
}

function untilGone(those: Pick<Quoting, 'maker' | 'quotes'>): Promise<void> {
  return eventually(async () => expect(await standing(those)).toEqual(GONE), 25_000);
}

/** When each quote was withdrawn according to the service, in milliseconds after `since`. */
async function delays({ maker, quotes }: Quoting, since: number): Promise<number[]> {
  const entries = quotes.map(async ({ auction_id: id }) => only(await maker.timeline(id), 'QUOTE_WITHDRAWN'));
  return (await Promise.all(entries)).map(({ occurred_at: at }) => Date.parse(at) - since);
}

/** They are withdrawn after the grace, not before, and not much later. */
async function goInTime(those: Quoting, since: number, graceMs = GRACE_MS): Promise<void> {
  await untilGone(those);
  for (const delay of await delays(those, since)) {
    expect(delay).toBeGreaterThanOrEqual(graceMs - 20);
    expect(delay).toBeLessThan(graceMs + LEASE_MS + MACHINE_MS);
  }
}

describe('the quotes of a stream that ends', () => {
  const ends: Readonly<Record<string, (those: Quoting) => Promise<unknown>>> = {
    'because its client is gone': ({ client }) => {
      client.kill();
      return Promise.resolve();
    },
    'with a close frame but without bye': ({ client }) => client.close(1001),
    'because its client breaks the rules': async ({ client }) => {
      client.sayText('no JSON');
      await client.untilClosed();
    },
    'because its session ends': async ({ client, maker }) => {
      const token = await floor.token(maker.name);
      await floor.anybody.as(token).send('POST', '/auth/logout');
      expect((await client.untilClosed()).code).toBe(4401);
    },
  };

  it.each(Object.keys(ends))('are withdrawn when the grace is over: %s', async (how) => {
    const those = await quoting();
    const since = Date.now();
    await ends[how]!(those);
    await goInTime(those, since);
    const { maker, quotes } = those;
    const entry = only(await maker.timeline(quotes[0]!.auction_id), 'QUOTE_WITHDRAWN');
    expect([entry.actor, entry.data]).toEqual([
      'SYSTEM',
      { quote: (await maker.myQuotes(quotes[0]!.auction_id))[0] },
    ]);
    expect((await maker.view(quotes[0]!.auction_id)).my_quote!.withdrawn_by).toBe('DISCONNECT');
  });

  it('are withdrawn when its client answers nothing any more', async () => {
    const those = await quoting({ answersPings: false });
    expect((await those.client.untilClosed()).code).toBe(4408);
    await untilGone(those);
  });

  it('are withdrawn at once without a grace, and stay active during a long one', async () => {
    const [hasty, patient] = [await quoting({ graceMs: 0 }), await quoting({ graceMs: 30_000 })];
    const since = Date.now();
    for (const { client } of [hasty, patient]) client.kill();
    await goInTime(hasty, since, 0);
    expect(await standing(patient)).toEqual(STANDING);
  });

  it('stay active without cancel on disconnect, and those submitted over HTTP always do', async () => {
    const [unwatched, mixed] = [await quoting({ graceMs: undefined }), await quoting()];
    const { auction_id: id } = await opens(mixed.maker, 0);
    const posted = { maker: mixed.maker, quotes: [await mixed.maker.quotes(id, 500_000, 1)] };
    // A quote submitted over HTTP does not belong to the stream that revises it, and one of the stream still
    // does when revised over HTTP.
    const { quote_id: quoteId } = posted.quotes[0]!;
    const change = { auction_id: id, quote_id: quoteId, expected_revision: 1, price_atoms: 400_000 };
    expect((await mixed.client.command('quote.revise', change)).type).toBe('ack');
    mustBe(200, await mixed.maker.revise(mixed.quotes[1]!, { price_atoms: 400_000 }));
    for (const { client } of [unwatched, mixed]) client.kill();
    await untilGone(mixed);
    expect(await standing(posted)).toEqual([['ACTIVE', undefined]]);
    expect(await standing(unwatched)).toEqual(STANDING);
  });

  it('stay active if they are irrevocable', async () => {
    const those = await quoting();
    const firm = await Promise.all(
      ['FINAL', 'IMPROVE_ONLY'].map(async (policy, shard) => {
        const { auction_id: id } = await opens(those.maker, shard, { quote_revision_policy: policy });
        return submit(those.client, id);
      }),
    );
    those.client.kill();
    await untilGone(those);
    expect(await standing({ maker: those.maker, quotes: firm })).toEqual([
      ['ACTIVE', undefined],
      ['ACTIVE', undefined],
    ]);
  });

  it('are reported once on a stream that resumes too late', async () => {
    const those = await quoting();
    those.client.kill();
    await untilGone(those);
    const again = await floor.goesOn(those.maker.name, those.client, { gateway: 1 }, watched(GRACE_MS));
    const isWithdrawal = ({ kind }: { kind: string }): boolean => kind === 'QUOTE_WITHDRAWN';
    const withdrawals = (): unknown[] => again.memory.of('s1').events.filter(isWithdrawal);
    await again.untilIt(() => withdrawals().length === SHARDS.length, 'the withdrawals');
    expect(await again.ask('ping')).toMatchObject({ type: 'pong' });
    expect(withdrawals()).toHaveLength(SHARDS.length);
    expect(again.memory.faults).toEqual([]);
  });
});

describe('bye', () => {
  it('leaves the quotes active, also when an owner dies after it', async () => {
    const [polite, torn] = [await quoting(), await quoting({ graceMs: 2_000 })];
    await polite.client.bye();
    torn.client.kill();
    const pid = cluster.kill('owner-1');
    await cluster.restartOf('owner-1', pid);
    // A stream without bye is handled by the same owners, later.
    await untilGone(torn);
    expect(await standing(polite)).toEqual(STANDING);
  });
});

describe('a stream that resumes within its grace', () => {
  it.each([0, 1])(
    'keeps its quotes, at gateway %i; the end of its former socket has no effect',
    async (gateway) => {
      const [back, lost] = [await quoting(), await quoting()];
      // One resumes while its former socket is still open.
      const over = await quoting();
      const taken = await floor.goesOn(over.maker.name, over.client, { gateway }, watched(GRACE_MS));
      for (const { client } of [back, lost, over]) client.kill();
      const again = await floor.goesOn(back.maker.name, back.client, { gateway }, watched(GRACE_MS));
      await untilGone(lost);
      expect(await standing(back)).toEqual(STANDING);
      expect(await standing(over)).toEqual(STANDING);
      const since = Date.now();
      again.kill();
      taken.kill();
      await goInTime(back, since);
      await goInTime(over, since);
    },
  );

  it('follows its latest hello: no grace, another one, or one that it did not have before', async () => {
    const [freed, hastened, bound, control] = await Promise.all([
      quoting(),
      quoting({ graceMs: 30_000 }),
      quoting({ graceMs: undefined }),
      quoting({ graceMs: 2 * GRACE_MS }),
    ]);
    const goesOn = async ({ maker, client }: Quoting, graceMs?: number): Promise<StreamClient> => {
      client.kill();
      return floor.goesOn(maker.name, client, { gateway: 1 }, watched(graceMs));
    };
    const streams = [await goesOn(freed), await goesOn(hastened, GRACE_MS), await goesOn(bound, GRACE_MS)];
    const since = Date.now();
    for (const stream of [...streams, control.client]) stream.kill();
    await goInTime(hastened, since);
    await goInTime(bound, since);
    await untilGone(control);
    expect(await standing(freed)).toEqual(STANDING);
  });

  it('does not keep them with the token of another stream', async () => {
    const lost = await quoting();
    const other = await floor.listen(lost.maker.name, watched(GRACE_MS));
    await other.subscribe();
    const since = Date.now();
    for (const client of [lost.client, other]) client.kill();
    await floor.goesOn(lost.maker.name, other, { gateway: 1 }, watched(30_000));
    await goInTime(lost, since);
  });
});

describe('when processes die', () => {
  it('a gateway: its quotes are withdrawn after grace and lease, and those of streams that resumed elsewhere stay', async () => {
    const [lost, back] = [await quoting({ gateway: 1 }), await quoting({ gateway: 1, graceMs: 4_000 })];
    const since = Date.now();
    const pid = cluster.kill('gateway-1');
    await back.client.untilClosed();
    const again = await floor.goesOn(back.maker.name, back.client, { gateway: 0 }, watched(4_000));
    await goInTime(lost, since);
    await cluster.restartOf('gateway-1', pid);
    // After the time at which they would have been withdrawn.
    const control = await quoting({ graceMs: 4_000 });
    control.client.kill();
    await untilGone(control);
    expect(await standing(back)).toEqual(STANDING);
    again.kill();
    await untilGone(back);
  });

  it('a gateway that stops in order: the same', async () => {
    const [lost, back] = [await quoting({ gateway: 1 }), await quoting({ gateway: 1, graceMs: 5_000 })];
    const pid = cluster.kill('gateway-1', 'SIGTERM');
    expect((await back.client.untilClosed()).code).toBe(4503);
    await floor.goesOn(back.maker.name, back.client, { gateway: 0 }, watched(5_000));
    await untilGone(lost);
    await cluster.restartOf('gateway-1', pid);
    expect(await standing(back)).toEqual(STANDING);
  });

  it('an owner during the grace: it withdraws them after its restart, and the others in time', async () => {
    const those = await quoting({ graceMs: 3_000 });
    const since = Date.now();
    those.client.kill();
    const pid = cluster.kill('owner-0');
    await cluster.restartOf('owner-0', pid);
    await untilGone(those);
    for (const delay of await delays(those, since)) expect(delay).toBeGreaterThanOrEqual(3_000 - 20);
  });

  it('an owner while the stream is open: they stay, and are withdrawn when the stream ends', async () => {
    const [those, control] = [await quoting({ graceMs: 0 }), await quoting({ graceMs: 6_000 })];
    const pid = cluster.kill('owner-2');
    control.client.kill();
    await cluster.restartOf('owner-2', pid);
    await untilGone(control);
    expect(await standing(those)).toEqual(STANDING);
    expect(await those.client.ask('ping')).toMatchObject({ type: 'pong' });
    those.client.kill();
    await untilGone(those);
  });

  it('a paused gateway counts as dead: its quotes are withdrawn, and its client learns it when the gateway goes on', async () => {
    const [those, elsewhere] = [await quoting({ gateway: 1 }), await quoting()];
    const since = Date.now();
    const pid = cluster.kill('gateway-1', 'SIGSTOP');
    try {
      await goInTime(those, since);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    const { client } = those;
    const withdrawn = (): number =>
      client.memory.of('s1').events.filter(({ kind }) => kind === 'QUOTE_WITHDRAWN').length;
    await client.untilIt(() => withdrawn() === SHARDS.length, 'the withdrawals');
    expect(await standing(elsewhere)).toEqual(STANDING);
    // The owners watch the stream again.
    const [first] = those.quotes;
    const resubmitted = await submit(client, first!.auction_id);
    client.kill();
    await eventually(async () => {
      const quotes = await those.maker.myQuotes(resubmitted.auction_id);
      expect(quotes.map(({ status, withdrawn_by: by }) => [status, by])).toEqual([
        ['WITHDRAWN', 'DISCONNECT'],
        ['WITHDRAWN', 'DISCONNECT'],
      ]);
    }, 20_000);
  });

  it('a paused owner does not consider any gateway dead when it goes on', async () => {
    const [those, control] = [await quoting({ graceMs: 0 }), await quoting({ graceMs: 0 })];
    const pid = cluster.kill('owner-1', 'SIGSTOP');
    try {
      control.client.kill();
      // The other owners went on for longer than a lease.
      const others = { maker: control.maker, quotes: control.quotes.filter((_, shard) => shard !== 1) };
      await eventually(async () => expect(await standing(others)).toEqual(GONE.slice(1)), 20_000);
      await sleep(LEASE_MS);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await untilGone(control);
    expect(await standing(those)).toEqual(STANDING);
  });
});
