import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  fullBucket,
  perSecond,
  take,
  type BucketRule,
  type BucketState,
} from '#libs/platform/time/token-bucket.js';
import { RULES, TokenShards, type Passage } from '#libs/testing/shards/token-shards.js';

const HOME = 0;
const ANN = `${HOME}-ann`;
const AT_ONCE: readonly Passage[] = [{ millis: 0, fate: 'ARRIVES' }];
/** Use is reported after a tenth of a second, and messages take time. A refusal waits for both. */
const REPORTED_WITHIN_MILLIS = 160n;

/** The one bucket that all shards together must behave like. */
class Model {
  private readonly rule: BucketRule;
  private state: BucketState;

  constructor(
    bucket: 'quote' | 'withdraw',
    private readonly now: () => bigint,
  ) {
    this.rule = perSecond(RULES.limits[bucket].rate_per_second, RULES.limits[bucket].burst);
    this.state = fullBucket(this.rule, now());
  }

  take(): boolean {
    const { taken, state } = take(this.rule, this.state, 1, this.now());
    this.state = state;
    return taken;
  }

  /** Whole and fractional tokens. */
  get level(): number {
    const { state } = take(this.rule, this.state, 0, this.now());
    return Number(state.level) / Number(this.rule.perNanos);
  }

  get gainWhileUnreported(): number {
    return Number(REPORTED_WITHIN_MILLIS * 1_000_000n * this.rule.tokens) / Number(this.rule.perNanos);
  }

  refill(): void {
    this.state = fullBucket(this.rule, this.now());
  }
}

type Step =
  | {
      readonly does: 'TAKES';
      readonly shard: number;
      readonly bucket: 'quote' | 'withdraw';
      readonly times: number;
    }
  | { readonly does: 'PASSES'; readonly millis: number }
  | { readonly does: 'RESTARTS' | 'RECONNECTS' | 'FALLS_SILENT' | 'SPEAKS'; readonly shard: number };

class LeaseRun {
  readonly shards: TokenShards;
  readonly models: Record<'quote' | 'withdraw', Model>;
  readonly faults: string[] = [];
  granted = 0;
  refused = 0;

  constructor(
    passages: readonly Passage[],
    private readonly isCalm: boolean,
  ) {
    this.shards = new TokenShards({
      passages,
      onTaken: (shard, bucket) => {
        if (shard === HOME) this.taken(bucket as 'quote');
      },
    });
    const now = (): bigint => this.shards.clock.monotonicNanos();
    this.models = { quote: new Model('quote', now), withdraw: new Model('withdraw', now) };
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      if (step.does === 'PASSES') await this.shards.pass(step.millis);
      else if (step.does === 'TAKES') await this.takesAll(step.shard, step.bucket, step.times);
      else if (step.does === 'RECONNECTS') this.shards.reconnect(step.shard, HOME);
      else if (step.does === 'RESTARTS') this.restarts(step.shard);
      else if (step.does === 'FALLS_SILENT') this.shards.silence(step.shard);
      else this.shards.unsilence(step.shard);
    }
    await this.shards.pass(1_000);
  }

  private async takesAll(shard: number, bucket: 'quote' | 'withdraw', times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) this.takes(shard, bucket);
    await this.shards.pass(0);
  }

  takes(shard: number, bucket: 'quote' | 'withdraw'): void {
    const answer = this.shards.take(shard, ANN, bucket);
    if (answer === true) {
      this.granted += 1;
      // At its home shard the bucket itself calls `onTaken`.
      if (shard !== HOME) this.taken(bucket);
    } else void Promise.resolve(answer).then((granted) => this.answered(granted, bucket));
  }

  private taken(bucket: 'quote' | 'withdraw'): void {
    if (!this.models[bucket].take()) this.faults.push(`a ${bucket} more than there was`);
  }

  private answered(granted: boolean, bucket: 'quote' | 'withdraw'): void {
    this.granted += Number(granted);
    this.refused += Number(!granted);
    if (granted || !this.isCalm) return;
    const { level, gainWhileUnreported } = this.models[bucket];
    if (level >= 1 + gainWhileUnreported) this.faults.push(`a ${bucket} was refused with ${level} there`);
  }

  /** A home shard that restarts has full buckets. */
  private restarts(shard: number): void {
    this.shards.restart(shard);
    if (shard !== HOME) return;
    this.models.quote.refill();
    this.models.withdraw.refill();
  }
}

const shard = fc.integer({ min: 0, max: 2 });
/** A few tokens, like a maker who quotes, or more than the burst. */
const times = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 20 }) },
  { weight: 1, arbitrary: fc.constant(120) },
);
const bucket = fc.constantFrom('quote' as const, 'quote' as const, 'quote' as const, 'withdraw' as const);
const takes = fc.record({ does: fc.constant('TAKES' as const), shard, bucket, times });
const millis = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 120 }) },
  { weight: 2, arbitrary: fc.integer({ min: 120, max: 3_000 }) },
  { weight: 1, arbitrary: fc.constant(12_000) },
);
const passes = fc.record({ does: fc.constant('PASSES' as const), millis });
const troubles = fc.record({
  does: fc.constantFrom(
    'RESTARTS' as const,
    'RECONNECTS' as const,
    'FALLS_SILENT' as const,
    'SPEAKS' as const,
  ),
  shard,
});
const swift = fc.record({ millis: fc.integer({ min: 0, max: 10 }), fate: fc.constant('ARRIVES' as const) });
const rough = fc.record({
  millis: fc.integer({ min: 0, max: 80 }),
  fate: fc.constantFrom('ARRIVES' as const, 'IS_LOST' as const, 'COMES_TWICE' as const),
});

async function holds(run: LeaseRun, steps: readonly Step[]): Promise<void> {
  await run.play(steps);
  expect(run.faults).toEqual([]);
}

describe('three shards with leases and one bucket', () => {
  it('grant and refuse the same, wherever tokens are taken and however messages cross', async () => {
    const passages = fc.array(swift, { minLength: 1, maxLength: 12 });
    const steps = fc.array(fc.oneof({ weight: 3, arbitrary: takes }, { weight: 2, arbitrary: passes }), {
      minLength: 5,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(passages, steps, (onTheWay, played) => holds(new LeaseRun(onTheWay, true), played)),
      { numRuns: 150 },
    );
  }, 60_000);

  it('never grant more, whatever is lost, late or delivered twice, and whichever shard is silent or restarts', async () => {
    const passage = fc.oneof({ weight: 5, arbitrary: swift }, { weight: 1, arbitrary: rough });
    const passages = fc.array(passage, { minLength: 1, maxLength: 20 });
    const step = fc.oneof(
      { weight: 6, arbitrary: takes },
      { weight: 3, arbitrary: passes },
      { weight: 2, arbitrary: troubles },
    );
    const steps = fc.array(step, { minLength: 10, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(passages, steps, (onTheWay, played) => holds(new LeaseRun(onTheWay, false), played)),
      { numRuns: 400 },
    );
  }, 60_000);
});

describe('three shards with leases', () => {
  let run: LeaseRun;

  beforeEach(() => {
    run = new LeaseRun(AT_ONCE, true);
  });

  async function takesAt(where: number, times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      run.takes(where, 'quote');
      await run.shards.pass(0);
    }
  }

  it('grant exactly the burst while time stands still', async () => {
    for (let round = 0; round < 100; round += 1) await takesAt(round % 3, 1 + (round % 4));
    expect([run.granted, run.refused]).toEqual([100, 150]);
  });

  it('send far fewer messages than they take tokens', async () => {
    for (let second = 0; second < 10; second += 1) {
      await takesAt(1, 20);
      await run.shards.pass(1_000);
    }
    expect(run.granted).toBe(200);
    const asked = run.shards.messages.length;
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThan(60);
  });

  it('send nothing and keep nothing a few seconds after the last take', async () => {
    await takesAt(1, 30);
    await takesAt(2, 30);
    await run.shards.pass(5_000);
    const sent = run.shards.messages.length;
    expect(run.models.quote.level).toBe(100);
    expect(await run.shards.available(HOME, ANN)).toMatchObject({ quote: 100 });
    await run.shards.pass(60_000);
    expect([run.shards.messages.length, run.shards.clock.pending]).toEqual([sent, 0]);
  });

  it('report exactly what is left while tokens are leased', async () => {
    await takesAt(1, 5);
    await takesAt(2, 1);
    await takesAt(HOME, 4);
    expect(await run.shards.available(HOME, ANN)).toMatchObject({ quote: 90, withdraw: 500 });
    expect(run.shards.messages.filter((message) => message.endsWith('recallLeases'))).toHaveLength(2);
  });

  it('keep the tokens of a silent shard from the others until it can no longer take them', async () => {
    run = new LeaseRun(AT_ONCE, false);
    await takesAt(1, 1);
    run.shards.silence(1);
    await takesAt(HOME, 200);
    // An eighth of the remaining 99 tokens is at the other shard.
    expect(run.granted).toBe(1 + 87);
    await run.shards.pass(9_000);
    expect(await run.shards.available(HOME, ANN)).toMatchObject({ quote: 88 });
    await run.shards.pass(4_000);
    expect(await run.shards.available(HOME, ANN)).toMatchObject({ quote: 100 });
    expect(run.faults).toEqual([]);
  });
});
