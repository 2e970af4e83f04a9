import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reply, type LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRequest } from '#libs/auction/protocol/protocol.js';
import { homeShard } from '#libs/auction/protocol/routing.js';
import { nextTurn } from '#libs/platform/time/clock.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { AccountBuckets } from './buckets.js';
import { TokenExchange } from './token-exchange.js';
import { TokenHome } from './token-home.js';

const ANN = Array.from({ length: 100 }, (_, number) => `ann-${number}`).find(
  (name) => homeShard(name) === 0,
)!;
const HOLDER = { shard: 1, life: 3 };

let clock: MovableClock;

beforeEach(() => {
  clock = new MovableClock();
  clock.stopAtEpoch(clock.epochNanos());
});

afterEach(() => {
  clock.forgetTimers();
});

/** The exchange of shard 1, whose every question to shard 0 is answered so. */
function exchange(
  answer: (request: OwnerRequest) => LinkReply,
  connection: () => number | undefined = () => 1,
) {
  const asked: OwnerRequest[] = [];
  const link = {
    get connection(): number | undefined {
      return connection();
    },
    request: (request: OwnerRequest): Promise<LinkReply> => {
      asked.push(request);
      return Promise.resolve(answer(request));
    },
  };
  const tokens = new TokenExchange({
    clock,
    holder: HOLDER,
    peers: new Map([[0, link]]),
    home: { take: () => true },
    alone: new AccountBuckets(clock, 1, true),
  });
  return { tokens, asked };
}

function home(): TokenHome {
  return new TokenHome({
    clock,
    limitsFactor: 1,
    peers: new Map(),
    buckets: new AccountBuckets(clock, 1),
  });
}

it('a home that is told in one turn of a wish and that it was given up has leased nothing', async () => {
  const late = home();
  const account = ANN;
  const requests = [{ account, bucket: 'quote' }] as const;
  const wishes = [{ account, bucket: 'quote', lease: 1 }] as const;
  const asked = late.grant({ op: 'take_tokens', requests, holder: HOLDER, wishes, reports: [] });
  await late.grant({ op: 'take_tokens', requests: [], holder: HOLDER, wishes: [], reports: [[1, 0, true]] });
  expect(JSON.parse((await asked).body)).toEqual({ granted: [true], leased: [12] });
  expect(await late.available(ANN)).toMatchObject({ quote: 99 });
});

describe('an owner with a lease', () => {
  it('takes from it at once, asks ahead without waiting, and tells with it what was used', async () => {
    const { tokens, asked } = exchange(() => reply(200, { granted: [true], leased: [8] }));
    expect(await tokens.take(ANN, 'quote')).toBe(true);
    const taken = Array.from({ length: 6 }, () => tokens.take(ANN, 'quote'));
    expect(taken).toEqual(Array(6).fill(true));
    await nextTurn();
    expect(asked.slice(1)).toEqual([
      {
        op: 'take_tokens',
        requests: [],
        wishes: [{ account: ANN, bucket: 'quote', lease: 2 }],
        reports: [[1, 6, false]],
        holder: HOLDER,
      },
    ]);
  });

  it('leases neither creates nor cancels', async () => {
    const { tokens, asked } = exchange(() => reply(200, { granted: [true], leased: [] }));
    await tokens.take(ANN, 'create');
    await tokens.take(ANN, 'cancel');
    expect(asked).toMatchObject([{ wishes: [] }, { wishes: [] }]);
  });

  it('takes nothing from it once the connection to its home is gone, and meters alone', async () => {
    let connection: number | undefined = 1;
    const { tokens } = exchange(
      () => (connection === undefined ? reply(503, {}) : reply(200, { granted: [true], leased: [8] })),
      () => connection,
    );
    await tokens.take(ANN, 'quote');
    expect(tokens.take(ANN, 'quote')).toBe(true);
    connection = undefined;
    const taken: boolean[] = [];
    for (let call = 0; call < 101; call += 1) taken.push(await tokens.take(ANN, 'quote'));
    expect(taken.filter(Boolean)).toHaveLength(100);
  });

  it('gives no account of what another life of it has asked for', async () => {
    const { tokens } = exchange(() => reply(200, { granted: [true], leased: [8] }));
    await tokens.take(ANN, 'quote');
    expect(tokens.take(ANN, 'quote')).toBe(true);
    const told = (life: number): unknown =>
      JSON.parse(tokens.callIn({ op: 'call_in', life, leases: [1] }).body);
    expect(told(HOLDER.life - 1)).toEqual({ used: [null] });
    expect(told(HOLDER.life)).toEqual({ used: [1] });
    expect(tokens.take(ANN, 'quote')).toBeInstanceOf(Promise);
  });
});
