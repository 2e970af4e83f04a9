import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { nextTurn } from '#libs/platform/time/clock.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { homeOf, RULES, type Metered } from '#libs/testing/shards/token-shards.js';
import { AccountBuckets } from './buckets.js';
import { TokenExchange } from './token-exchange.js';
import { TokenHome } from './token-home.js';
import type { TakeTokens, TokensGranted } from './token-messages.js';

const ANN = '0-ann';
const HOLDER = { shard: 1, epoch: 3 };

let clock: MovableClock;

beforeEach(() => {
  clock = new MovableClock();
  clock.stopAtEpoch(clock.epochNanos());
});

afterEach(() => {
  clock.forgetTimers();
});

/** The exchange of shard 1. Shard 0 answers all its requests with the given function. */
function exchange(answer: () => TokensGranted | undefined, connection: () => number | undefined = () => 1) {
  const asked: TakeTokens<Metered>[] = [];
  const link = {
    get connection(): number | undefined {
      return connection();
    },
    takeTokens: (message: TakeTokens<Metered>) => {
      asked.push(message);
      return Promise.resolve(answer());
    },
  };
  const tokens = new TokenExchange({
    clock,
    holder: HOLDER,
    peers: new Map([[0, link]]),
    homeOf,
    home: { take: () => true },
    alone: new AccountBuckets(clock, RULES, 3),
  });
  return { tokens, asked };
}

function home(): TokenHome<Metered> {
  return new TokenHome({ clock, peers: new Map(), buckets: new AccountBuckets(clock, RULES) });
}

it('a home shard leases nothing if a request and its withdrawal come in the same turn', async () => {
  const late = home();
  const account = ANN;
  const requests = [{ account, bucket: 'quote' }] as const;
  const wishes = [{ account, bucket: 'quote', lease: 1 }] as const;
  const asked = late.grant({ requests, holder: HOLDER, wishes, reports: [] });
  await late.grant({ requests: [], holder: HOLDER, wishes: [], reports: [[1, 0, true]] });
  expect(await asked).toEqual({ granted: [true], leased: [12] });
  expect((await late.available(ANN)).get('quote')).toBe(99);
});

describe('an owner with a lease', () => {
  it('takes from it at once, requests the next one without waiting, and reports its use in the same message', async () => {
    const { tokens, asked } = exchange(() => ({ granted: [true], leased: [8] }));
    expect(await tokens.take(ANN, 'quote')).toBe(true);
    const taken = Array.from({ length: 6 }, () => tokens.take(ANN, 'quote'));
    expect(taken).toEqual(Array(6).fill(true));
    await nextTurn();
    expect(asked.slice(1)).toEqual([
      {
        requests: [],
        wishes: [{ account: ANN, bucket: 'quote', lease: 2 }],
        reports: [[1, 6, false]],
        holder: HOLDER,
      },
    ]);
  });

  it('leases only from the buckets that the rules name', async () => {
    const { tokens, asked } = exchange(() => ({ granted: [true], leased: [] }));
    await tokens.take(ANN, 'create');
    expect(asked).toMatchObject([{ wishes: [] }]);
  });

  it('takes nothing from it once the connection to the home shard is gone, and meters alone', async () => {
    let connection: number | undefined = 1;
    const { tokens } = exchange(
      () => (connection === undefined ? undefined : { granted: [true], leased: [8] }),
      () => connection,
    );
    await tokens.take(ANN, 'quote');
    expect(tokens.take(ANN, 'quote')).toBe(true);
    connection = undefined;
    const taken: boolean[] = [];
    for (let call = 0; call < 101; call += 1) taken.push(await tokens.take(ANN, 'quote'));
    expect(taken.filter(Boolean)).toHaveLength(100);
  });

  it('reports no use of leases that an earlier process of its shard requested', async () => {
    const { tokens } = exchange(() => ({ granted: [true], leased: [8] }));
    await tokens.take(ANN, 'quote');
    expect(tokens.take(ANN, 'quote')).toBe(true);
    const recalled = (epoch: number): unknown => tokens.recall({ epoch, leases: [1] });
    expect(recalled(HOLDER.epoch - 1)).toEqual({ used: [null] });
    expect(recalled(HOLDER.epoch)).toEqual({ used: [1] });
    expect(tokens.take(ANN, 'quote')).toBeInstanceOf(Promise);
  });
});
