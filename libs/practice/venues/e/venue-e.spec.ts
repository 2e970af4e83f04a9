import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SymbolConverter } from '@nktkas/hyperliquid/utils';
import { ExchangeClient, HttpTransport, SubscriptionClient, WebSocketTransport } from '@nktkas/hyperliquid';
import { WebSocket } from 'ws';
import { eventually } from '#libs/testing/eventually.js';
import { openPracticeE, type EClient, type PracticeE } from '#libs/testing/practice-e.js';

let venue: PracticeE;

beforeAll(async () => {
  venue = await openPracticeE();
});
afterAll(() => venue.close());

type Tif = 'Gtc' | 'Ioc' | 'Alo';
interface Terms {
  readonly outcome: number;
  readonly side?: 0 | 1;
  readonly buy?: boolean;
  readonly p: string;
  readonly s: string;
  readonly tif?: Tif;
  readonly cloid?: `0x${string}`;
}

function newCloid(): `0x${string}` {
  return `0x${randomBytes(16).toString('hex')}`;
}

/** The status of one order, or the text of its refusal. */
async function place(
  client: EClient,
  { outcome, side = 0, buy = true, p, s, tif = 'Gtc', cloid }: Terms,
): Promise<unknown> {
  const a = 100_000_000 + 10 * outcome + side;
  const order = { a, b: buy, p, s, r: false, t: { limit: { tif } }, ...(cloid && { c: cloid }) };
  try {
    const reply = await client.trader.order({ orders: [order], grouping: 'na' });
    return reply.response.data.statuses[0];
  } catch (error) {
    return (error as Error).message;
  }
}

function oidOf(status: unknown): number {
  return (status as { readonly resting: { readonly oid: number } }).resting.oid;
}

async function balance(client: EClient, coin: string): Promise<unknown> {
  const { balances } = await venue.info.spotClearinghouseState({ user: client.address });
  return balances.find((one) => one.coin === coin);
}

describe('orders of the published client', () => {
  it('rest, are listed, and are cancelled by id and by cloid', async () => {
    const [client, outcome] = [await venue.account(), await venue.market()];
    const cloid = newCloid();
    const first = await place(client, { outcome, p: '0.4', s: '10' });
    const second = await place(client, { outcome, p: '0.4001', s: '3', cloid });
    expect(second).toEqual({ resting: { oid: expect.any(Number), cloid } });
    const open = await venue.info.frontendOpenOrders({ user: client.address });
    expect(open).toMatchObject([
      { coin: `#${outcome * 10}`, side: 'B', limitPx: '0.4', sz: '10.0', origSz: '10.0', cloid: null },
      { limitPx: '0.4001', cloid, tif: 'Gtc' },
    ]);
    expect(await venue.info.l2Book({ coin: `#${outcome * 10}` })).toMatchObject({
      levels: [
        [
          { px: '0.4001', sz: '3.0', n: 1 },
          { px: '0.4', sz: '10.0', n: 1 },
        ],
        [],
      ],
    });
    expect(await balance(client, 'USDC')).toMatchObject({ total: '1000.0', hold: '5.2003' });
    const a = 100_000_000 + outcome * 10;
    await client.trader.cancel({ cancels: [{ a, o: oidOf(first) }] });
    await client.trader.cancelByCloid({ cancels: [{ asset: a, cloid }] });
    await expect(client.trader.cancel({ cancels: [{ a, o: oidOf(first) }] })).rejects.toThrow(
      'Order was never placed, already canceled, or filled.',
    );
    expect(await venue.info.orderStatus({ user: client.address, oid: cloid })).toMatchObject({
      status: 'order',
      order: { status: 'canceled', order: { cloid } },
    });
    expect(await venue.info.openOrders({ user: client.address })).toEqual([]);
  });

  it('trade within a side and between sides, at the price of the maker and without fees', async () => {
    const outcome = await venue.market();
    const [maker, taker, third] = [await venue.account(), await venue.account(), await venue.account()];
    const resting = await place(maker, { outcome, side: 0, p: '0.6', s: '10' });
    expect(await place(taker, { outcome, side: 1, p: '0.5', s: '4', tif: 'Ioc' })).toEqual({
      filled: { totalSz: '4.0', avgPx: '0.4', oid: expect.any(Number) },
    });
    expect(await place(third, { outcome, side: 0, p: '0.55', s: '4', buy: false })).toBe(
      'order 0: Order has insufficient spot balance to trade',
    );
    const [fill] = await venue.info.userFills({ user: maker.address });
    expect(fill).toMatchObject({ coin: `#${outcome * 10}`, px: '0.6', sz: '4.0', side: 'B', fee: '0.0' });
    expect(fill).toMatchObject({ oid: oidOf(resting), crossed: false, tid: expect.any(Number) });
    expect(await balance(taker, `+${outcome * 10 + 1}`)).toMatchObject({ total: '4.0', hold: '0.0' });
    expect(await balance(taker, 'USDC')).toMatchObject({ total: '998.4' });
    const since = { user: maker.address, startTime: Date.now() - 60_000 };
    expect(await venue.info.userFillsByTime(since)).toEqual([fill]);
    const status = await venue.info.orderStatus({ user: maker.address, oid: oidOf(resting) });
    expect(status).toMatchObject({ order: { status: 'open', order: { sz: '6.0', origSz: '10.0' } } });
  });

  it.each([
    [{ p: '0.40005', s: '10' }, 'Price must be divisible by tick size.'],
    [{ p: '0.4', s: '0.5' }, 'Order has invalid size.'],
    [{ p: '0.4', s: '1.5' }, 'Order has invalid size.'],
    [{ p: '0.9', s: '100000' }, 'Order has insufficient spot balance to trade'],
    [
      { p: '0.4', s: '1', tif: 'Ioc' as const },
      'Order could not immediately match against any resting orders.',
    ],
  ])('are refused with the text of the venue: %j', async (terms, text) => {
    const [client, outcome] = [await venue.account(), await venue.market()];
    expect(await place(client, { outcome, ...terms })).toBe(`order 0: ${text}`);
    expect(await venue.info.openOrders({ user: client.address })).toEqual([]);
  });

  it('are refused if they add liquidity only and would trade', async () => {
    const [client, other, outcome] = [await venue.account(), await venue.account(), await venue.market()];
    await place(other, { outcome, side: 1, p: '0.6', s: '5' });
    const text = 'Post only order would have immediately matched';
    expect(await place(client, { outcome, p: '0.4', s: '5', tif: 'Alo' })).toContain(text);
    expect(await place(client, { outcome, p: '0.3999', s: '5', tif: 'Alo' })).toHaveProperty('resting');
  });

  it('do not trade with their own account', async () => {
    const [client, outcome] = [await venue.account(), await venue.market()];
    const cloid = newCloid();
    await place(client, { outcome, p: '0.4', s: '5' });
    expect(await place(client, { outcome, side: 1, p: '0.7', s: '5', cloid })).toContain('its own account');
    expect(await venue.info.orderStatus({ user: client.address, oid: cloid })).toMatchObject({
      order: { status: 'selfTradeCanceled' },
    });
  });

  it('with an unknown id are reported as unknownOid', async () => {
    const client = await venue.account();
    for (const oid of [newCloid(), 1]) {
      expect(await venue.info.orderStatus({ user: client.address, oid })).toEqual({ status: 'unknownOid' });
    }
  });
});

describe('authorization', () => {
  it('an unauthorized agent cannot act for the account', async () => {
    const [client, stranger, outcome] = [await venue.account(), await venue.account(), await venue.market()];
    const unknown = { ...client, trader: stranger.trader };
    await place(unknown, { outcome, p: '0.4', s: '5' });
    expect(await venue.info.openOrders({ user: client.address })).toEqual([]);
    expect(await venue.info.openOrders({ user: stranger.address })).toHaveLength(1);
    expect(await venue.info.extraAgents({ user: client.address })).toHaveLength(1);
  });

  it('an expired action is refused', async () => {
    const [client, outcome] = [await venue.account(), await venue.market()];
    const order = { a: 100_000_000 + outcome * 10, b: true, p: '0.4', s: '1', r: false } as const;
    const orders = [{ ...order, t: { limit: { tif: 'Gtc' as const } } }];
    const past = Date.now() - 1_000;
    await expect(client.trader.order({ orders }, { expiresAfter: past })).rejects.toThrow('expired');
    await client.trader.order({ orders }, { expiresAfter: Date.now() + 60_000 });
    expect(await venue.info.openOrders({ user: client.address })).toHaveLength(1);
  });

  it('the same bytes are executed only once', async () => {
    const [client, outcome] = [await venue.account(), await venue.market()];
    const bodies: string[] = [];
    const recording = {
      isTestnet: false,
      request: async <T>(_: string, payload: unknown): Promise<T> => {
        bodies.push(JSON.stringify(payload));
        const reply = await fetch(`${venue.url}/exchange`, { method: 'POST', body: bodies.at(-1) ?? '' });
        return (await reply.json()) as T;
      },
    };
    const config = client.trader.config_;
    if (!('wallet' in config)) throw new Error('the client has no wallet');
    const trader = new ExchangeClient({ wallet: config.wallet, transport: recording });
    await place({ ...client, trader }, { outcome, p: '0.4', s: '1' });
    const again = await fetch(`${venue.url}/exchange`, { method: 'POST', body: bodies[0] ?? '' });
    expect(await again.json()).toMatchObject({ status: 'err', response: expect.stringContaining('nonce') });
    const changed = (bodies[0] ?? '').replace('"s":"1"', '"s":"2"');
    const forged = await fetch(`${venue.url}/exchange`, { method: 'POST', body: changed });
    expect(await forged.json()).toMatchObject({ response: expect.stringContaining('does not exist') });
    expect(await venue.info.openOrders({ user: client.address })).toHaveLength(1);
  });
});

describe('money and shares', () => {
  it('are sent between accounts and shown in both ledgers', async () => {
    const [from, to, outcome] = [await venue.account(), await venue.account('0'), await venue.market()];
    await from.owner.spotSend({ destination: to.address, token: 'USDC:0x6d1e', amount: '12.5' });
    await from.owner.usdSend({ destination: to.address, amount: '0.5' });
    await place(from, { outcome, p: '0.5', s: '10' });
    const other = await venue.account();
    await place(other, { outcome, side: 1, p: '0.5', s: '10' });
    const token = `+${outcome * 10}` as `${string}:0x${string}`;
    await from.owner.spotSend({ destination: to.address, token, amount: '4' });
    expect(await balance(to, 'USDC')).toMatchObject({ total: '13.0' });
    expect(await balance(to, `+${outcome * 10}`)).toMatchObject({ total: '4.0' });
    const updates = await venue.info.userNonFundingLedgerUpdates({ user: to.address, startTime: 0 });
    expect(updates.map(({ delta }) => delta)).toMatchObject([
      { type: 'spotTransfer', token: 'USDC', amount: '12.5', nonce: expect.any(Number) },
      { type: 'spotTransfer', token: 'USDC', amount: '0.5', destination: to.address.toLowerCase() },
      { type: 'spotTransfer', token: `+${outcome * 10}`, amount: '4.0', user: from.address.toLowerCase() },
    ]);
    await expect(
      from.owner.spotSend({ destination: to.address, token: 'USDC:0x6d1e', amount: '5000' }),
    ).rejects.toThrow('Insufficient balance');
  });

  it('a settled outcome pays its winners', async () => {
    const [winner, loser, outcome] = [await venue.account(), await venue.account(), await venue.market()];
    await place(winner, { outcome, p: '0.5', s: '10' });
    await place(loser, { outcome, side: 1, p: '0.5', s: '10' });
    await venue.call('POST', `/markets/venue_e/${outcome}/resolve`, { payouts: ['1', '0'] });
    expect(await balance(winner, 'USDC')).toMatchObject({ total: '1005.0' });
    expect(await balance(loser, `+${outcome * 10 + 1}`)).toBeUndefined();
    expect(await venue.info.settledOutcome({ outcome })).toMatchObject({ settleFraction: '1.0' });
  });
});

it('orders, agents and used nonces are restored from the log', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'sotto-practice-'));
  const before = await openPracticeE(folder);
  const [client, outcome] = [await before.account(), await before.market()];
  const cloid = newCloid();
  const first = oidOf(await place(client, { outcome, p: '0.4', s: '5', cloid }));
  await before.close();
  const after = await openPracticeE(folder);
  try {
    const user = client.address;
    expect(await after.info.openOrders({ user })).toMatchObject([{ oid: first, cloid, sz: '5.0' }]);
    expect(await after.info.extraAgents({ user })).toHaveLength(1);
    const config = client.trader.config_;
    if (!('wallet' in config)) throw new Error('the client has no wallet');
    const transport = new HttpTransport({ apiUrl: after.url });
    const trader = new ExchangeClient({ wallet: config.wallet, transport });
    const second = oidOf(await place({ ...client, trader }, { outcome, p: '0.3', s: '5' }));
    expect(second).toBeGreaterThan(first);
    expect(await place({ ...client, trader }, { outcome, p: '0.3', s: '5', cloid })).toContain('cloid');
  } finally {
    await after.close();
  }
});

describe('market data', () => {
  it('sides have the names that the published client uses', async () => {
    const converter = await SymbolConverter.create({
      transport: new HttpTransport({ apiUrl: venue.url }),
    });
    const { outcomes } = await venue.info.outcomeMeta();
    expect(outcomes[0]).toMatchObject({ outcome: 5, sideSpecs: [{ name: 'YES' }, { name: 'NO' }] });
    await eventually(async () => {
      expect(Object.keys(await venue.info.allMids())).toEqual(expect.arrayContaining(['#50', '#51']));
    });
    const asset = await venue.info.l2Book({ coin: '#51' });
    expect(asset?.levels.map((levels) => levels.length)).toEqual([10, 10]);
    expect(converter.getAssetId('unemployment-above-5-this-year-yes')).toBeDefined();
  });

  it('trades and settled outcomes can be read by time, unlike at the real venue', async () => {
    const [one, two, outcome] = [await venue.account(), await venue.account(), await venue.market()];
    const asked = async (type: string, span: object): Promise<readonly Record<string, unknown>[]> => {
      const body = JSON.stringify({ type, ...span });
      const reply = await fetch(`${venue.url}/info`, { method: 'POST', body });
      return (await reply.json()) as readonly Record<string, unknown>[];
    };
    await place(one, { outcome, p: '0.5', s: '10' });
    await place(two, { outcome, side: 1, p: '0.5', s: '10' });
    const [shown] = await venue.info.recentTrades({ coin: `#${outcome * 10 + 1}` });
    const time = Number(shown?.time);
    expect(await asked('tradesByTime', { startTime: time, endTime: time })).toContainEqual(shown);
    expect(await asked('tradesByTime', { startTime: time + 60_000 })).toEqual([]);
    await venue.call('POST', `/markets/venue_e/${outcome}/resolve`, { payouts: ['0.25', '0.75'] });
    expect(await asked('settledOutcomesByTime', { startTime: time })).toContainEqual(
      await venue.info.settledOutcome({ outcome }),
    );
    expect(await asked('settledOutcomesByTime', { endTime: time - 60_000 })).toEqual([]);
  });

  it('the published client hears of created and settled outcomes', async () => {
    const transport = new WebSocketTransport({ url: `${venue.url.replace('http', 'ws')}/ws` });
    const updates: unknown[] = [];
    await new SubscriptionClient({ transport }).outcomeMetaUpdates((event) => updates.push(...event.updates));
    const outcome = await venue.market();
    for (const status of ['halted', 'open'])
      await venue.call('POST', `/markets/venue_e/${outcome}/status`, { status });
    await venue.call('POST', `/markets/venue_e/${outcome}/resolve`, { payouts: ['1', '0'] });
    await eventually(() =>
      expect(updates).toMatchObject([{ outcomeCreated: { outcome } }, { outcomeSettled: { outcome } }]),
    );
    transport.close();
  });

  it('arrives through the socket', async () => {
    const outcome = await venue.market();
    const [one, two] = [await venue.account(), await venue.account()];
    const socket = new WebSocket(`${venue.url.replace('http', 'ws')}/ws`);
    const received: { readonly channel: string; readonly data: unknown }[] = [];
    socket.on('message', (data: Buffer) =>
      received.push(JSON.parse(data.toString('utf8')) as (typeof received)[number]),
    );
    await once(socket, 'open');
    for (const type of ['l2Book', 'trades', 'userFills']) {
      const subscription = { type, coin: `#${outcome * 10}` };
      socket.send(JSON.stringify({ method: 'subscribe', subscription }));
    }
    socket.send('{"method":"ping"}');
    await eventually(() => {
      expect(received.map(({ channel }) => channel)).toEqual([
        ...['subscriptionResponse', 'l2Book', 'subscriptionResponse', 'error', 'pong'],
      ]);
    });
    await place(one, { outcome, side: 1, p: '0.4', s: '2' });
    await place(two, { outcome, side: 0, p: '0.6', s: '2' });
    await eventually(() => {
      expect(received.find(({ channel }) => channel === 'trades')?.data).toMatchObject([
        { coin: `#${outcome * 10}`, side: 'B', px: '0.6', sz: '2.0' },
      ]);
    });
    socket.terminate();
  });
});
