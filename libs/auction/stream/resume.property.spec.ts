import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { randomSession, uuidNamed } from '#libs/testing/auctions/journaled-auctions.js';
import { AuctionWorld } from './fixtures/auction-world.js';
import { ModelClient } from './fixtures/model-client.js';
import { settled, SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import { TestGateway, type GatewayOptions } from './fixtures/test-gateway.js';

const SHARDS = [0, 1, 2];
const ALL = 100_000;

type Step =
  | { readonly do: 'write'; readonly shard: number; readonly records: number }
  | { readonly do: 'take in'; readonly gateway: number; readonly shard: number; readonly records: number }
  | { readonly do: 'read'; readonly frames: number }
  | { readonly do: 'subscribe'; readonly auction: number | undefined; readonly afterSeq: number | undefined }
  | { readonly do: 'unsubscribe'; readonly which: number }
  | { readonly do: 'connect'; readonly gateway: number; readonly forgets: boolean }
  | { readonly do: 'lag'; readonly shard: number; readonly records: number }
  | { readonly do: 'disconnect' }
  | { readonly do: 'pass'; readonly millis: number };

const shard = fc.constantFrom(...SHARDS);
const gateway = fc.constantFrom(0, 1);
const records = fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 40 }));

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write'), shard, records }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('take in'), gateway, shard, records }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('read'),
      frames: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 40 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('subscribe'),
      auction: fc.option(fc.nat({ max: 20 }), { nil: undefined }),
      afterSeq: fc.option(fc.nat({ max: 8 }), { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('unsubscribe'), which: fc.nat({ max: 7 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('connect' as const),
      gateway,
      forgets: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lag'), shard, records: fc.nat({ max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('disconnect') }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('pass'), millis: fc.constantFrom(10, 60, 300, 1_000) }),
  },
);

const anyPlay = fc.record({
  seed: fc.nat(),
  account: fc.constantFrom('mia', 'olga'),
  isLazy: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
  size: fc.integer({ min: 20, max: 48 }),
  /** The subscriptions before the first step. */
  subscriptions: fc.nat({ max: 3 }),
  steps: fc.array(anyStep, { minLength: 30, maxLength: 140, size: 'max' }),
});
type Play = typeof anyPlay extends fc.Arbitrary<infer P> ? P : never;

class Stage {
  readonly clock = new SteppedClock();
  readonly world: AuctionWorld;
  readonly gateways: readonly TestGateway[];
  readonly client: ModelClient;
  private readonly mayOverflow: boolean;

  constructor({ seed, account: name, isLazy }: Play, options: GatewayOptions) {
    const account = uuidNamed(name);
    this.mayOverflow = options.limits?.bufferedMessages !== undefined;
    this.world = new AuctionWorld(SHARDS.map((number) => randomSession(seed + number, 4, number).records));
    this.gateways = [0, 1].map(() => new TestGateway(this.world, this.clock, options));
    this.client = new ModelClient(this.world, account, this.clock, isLazy);
  }

  async play({ steps, account, subscriptions }: Play): Promise<void> {
    for (const one of this.gateways) await one.start();
    this.client.connect(this.gateways[0]!);
    await settled();
    for (let made = 0; made < subscriptions; made += 1) this.client.subscribe(undefined, undefined);
    const ids = this.world.idsOf(uuidNamed(account));
    for (const step of steps) {
      await this.run(step, ids);
      await settled();
    }
    await this.finish();
  }

  /** Writes and delivers everything that is left, and lets the client read it all. */
  private async finish(): Promise<void> {
    for (const number of SHARDS) this.world.write(number, ALL);
    this.world.lags.fill(0);
    for (const one of this.gateways) await one.takeInAll();
    for (let rounds = 0, quiet = 0; rounds < 200 && quiet < 8; rounds += 1) {
      if (!this.client.isConnected) this.client.connect(this.gateways[rounds % 2]!);
      this.clock.pass(50);
      await settled();
      const before = this.client.received;
      this.client.read(ALL);
      quiet = this.client.isConnected && before === this.client.received ? quiet + 1 : 0;
    }
    expect(this.client.isConnected).toBe(true);
    expect(this.gateways.flatMap(({ faults }) => faults)).toEqual([]);
    for (const id of this.client.active) this.client.followers.get(id)?.checkComplete();
    if (!this.mayOverflow) {
      for (const { id, isShownTwice } of this.client.followers.values())
        expect([id, isShownTwice]).toEqual([id, false]);
    }
    this.client.disconnect();
    for (const one of this.gateways) await one.stop();
  }

  private async run(step: Step, ids: readonly string[]): Promise<void> {
    const { client, world, gateways, clock } = this;
    switch (step.do) {
      case 'write':
        world.write(step.shard, step.records);
        return;
      case 'take in':
        await gateways[step.gateway]?.takeIn(step.shard, step.records);
        return;
      case 'read':
        client.read(step.frames);
        return;
      case 'subscribe': {
        const id = step.auction === undefined ? undefined : ids[step.auction % ids.length];
        client.subscribe(id, id === undefined ? undefined : step.afterSeq);
        return;
      }
      case 'unsubscribe':
        client.unsubscribe(step.which);
        return;
      case 'connect':
        client.connect(gateways[step.gateway]!, step.forgets);
        return;
      case 'lag':
        world.lags[step.shard] = step.records;
        return;
      case 'disconnect':
        client.disconnect();
        return;
      case 'pass':
        clock.pass(step.millis);
        client.tick();
    }
  }
}

/** Limits under which rare events happen often. */
const OFTEN = {
  subscriptions: 4,
  snapshotPart: 4,
  timelinePage: 3,
  tokenEvents: 4,
  tokenMillis: 100,
  heartbeatMillis: 50,
  silentHeartbeats: 1e6,
  expiryNoticeMillis: 0,
  catchUpMillis: 1e9,
};
/** Slow machines need more time. */
jest.setTimeout(120_000);

const RUNS = 100;
const ROUNDS = 6;
interface Outcome {
  /** Reasons that plays may reach; each is tested in subscriptions.spec or resumption.spec. */
  readonly resyncs: readonly string[];
  /** Close codes that plays must reach, and no others. */
  readonly closes: readonly number[];
}

/**
 * Checks the outcome of all plays, with more rounds if one round does not reach every code. Returns how often
 * histories were read.
 */
async function expectOfPlays(expected: Outcome, options: (play: Play) => GatewayOptions): Promise<number> {
  const resyncs = new Set<string>();
  const closes = new Set<number>();
  let recalls = 0;
  const isSeen = (): boolean => expected.closes.every((code) => closes.has(code));
  for (let round = 0; round < ROUNDS && (round === 0 || !isSeen()); round += 1) {
    await fc.assert(
      fc.asyncProperty(anyPlay, async (play) => {
        const stage = new Stage(play, options(play));
        await stage.play(play);
        for (const reason of stage.client.resyncs) resyncs.add(reason);
        for (const code of stage.client.closes) closes.add(code);
        recalls += stage.world.recalls;
      }),
      { numRuns: RUNS },
    );
  }
  expect(expected.resyncs).toEqual(expect.arrayContaining([...resyncs]));
  expect(closes).toEqual(new Set(expected.closes));
  return recalls;
}

describe('a client that resumes with its latest token and the last seq it has seen', () => {
  it('is continued exactly at any gateway, while history and buffers suffice', async () => {
    // A snapshot can be incomplete when a connection ends.
    const expected = { resyncs: ['SNAPSHOT_INCOMPLETE'], closes: [] };
    await expectOfPlays(expected, () => ({ limits: OFTEN }));
  });

  it('is continued exactly at gateways that are told older journal heads than others', async () => {
    const expected = { resyncs: ['SNAPSHOT_INCOMPLETE'], closes: [] };
    await expectOfPlays(expected, () => ({ limits: OFTEN, isToldOldEnds: true }));
  });

  it('gets the present state and continues from it when its buffer overflows', async () => {
    const expected = { resyncs: ['SNAPSHOT_INCOMPLETE', 'SLOW_READER'], closes: [4431] };
    await expectOfPlays(expected, ({ size }) => ({
      limits: { ...OFTEN, bufferedMessages: size, overflowMillis: 40 },
    }));
  });

  it('is continued exactly when its gateway has forgotten what the client missed', async () => {
    const expected = { resyncs: ['SNAPSHOT_INCOMPLETE'], closes: [] };
    const options = (): GatewayOptions => ({ history: 3, limits: { ...OFTEN, historyPageEvents: 3 } });
    expect(await expectOfPlays(expected, options)).toBeGreaterThan(RUNS);
  });

  it('has lost nothing in the end, whatever is slow, forgotten or away for too long', async () => {
    const resyncs = ['SNAPSHOT_INCOMPLETE', 'SLOW_READER', 'HISTORY_GONE'];
    await expectOfPlays({ resyncs, closes: [4431, 4503] }, ({ size }) => ({
      history: 2 * size,
      limits: { ...OFTEN, bufferedMessages: size, overflowMillis: 10, catchUpMillis: 200 },
    }));
  });
});
