import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { JournalUserEvents } from '../../stream/user-events.js';
import { fillId, JournaledCell } from '#libs/testing/execution/journaled-cell.js';
import { told, versionsIn } from '#libs/testing/execution/channel-words.js';
import { SocketCheck } from '#libs/testing/execution/socket-check.js';
import { SocketGateway, type SocketGatewayOptions } from '#libs/testing/execution/socket-gateway.js';

type OrderStream = Awaited<ReturnType<SocketGateway['connect']>>;
let store: MemoryJournalStore;
let cell: JournaledCell;
let gateway: SocketGateway;
let cellUrl: string;
let open: OrderStream[];
const check = new SocketCheck();
async function startGateway(options: Partial<SocketGatewayOptions> = {}): Promise<SocketGateway> {
  gateway = new SocketGateway({ cellUrl, reader: store, ...options });
  await gateway.start();
  return gateway;
}

beforeEach(async () => {
  open = [];
  store = new MemoryJournalStore('execution');
  cell = new JournaledCell(await new MemoryJournal(store).open(0));
  cellUrl = await cell.start();
  await startGateway();
});

afterEach(async () => {
  expect(open.flatMap((one) => check.faults(one))).toEqual([]);
  for (const one of open) one.kill();
  await gateway.stop();
  cell.stop();
  expect(gateway.faults).toEqual([]);
});

afterAll(() => {
  // Fills at venues b and e have no settlement that could succeed or fail.
  expect(check.unseen).toEqual(['settlement', 'fill_reversal']);
});

/** A socket before its `hello`. */
async function connect(user = 'ada', by: 'session' | 'key' = 'session'): Promise<OrderStream> {
  const stream = await gateway.connect(user, by);
  open.push(stream);
  return stream;
}

async function greeted(user = 'ada', fields: object = {}): Promise<OrderStream> {
  const stream = await connect(user);
  await stream.hello({ ...fields });
  return stream;
}

/** A socket opened with an API key of ada. */
async function keyed(): Promise<OrderStream> {
  const stream = await connect('ada', 'key');
  await stream.hello();
  return stream;
}

async function untilTold(stream: OrderStream, expected: readonly string[], id = 's1'): Promise<void> {
  await stream.untilIt(() => told(stream.frames, id).length >= expected.length);
  expect(told(stream.frames, id)).toEqual(expected);
}

describe('the channel of orders', () => {
  it('sends a snapshot of live orders and then every change, each fill before its order update', async () => {
    const before = await cell.accept('ada');
    const stream = await greeted();
    await stream.subscribe();
    const order = await cell.accept('ada');
    await cell.accept('bob');
    await cell.write([
      {
        ...cell.of('ada', order),
        ...{ type: 'SUBMISSION_STARTED', attempt: 1, venue_client_id: order },
        sent: { quantity: 10_000_000n, price: 400_000n },
      },
      { ...cell.of('ada', order), type: 'ORDER_PLACED', exchange_order_id: 'x' },
      cell.fill('ada', order, 4_000_000n, 1),
      cell.fill('ada', order, 4_000_000n, 1),
      cell.fill('ada', order, 6_000_000n, 2),
    ]);
    await untilTold(stream, [
      '0 snapshot 1',
      '1 order_update ACCEPTED v1',
      '2 order_update SUBMITTING v2',
      '3 order_update OPEN v3',
      `4 fill ${fillId(1)}`,
      '5 order_update FILL v4',
      `6 fill ${fillId(2)}`,
      '7 order_update FILLED v5',
    ]);
    const snapshot = await stream.until(({ type }) => type === 'snapshot');
    expect(snapshot).toMatchObject({
      seq: 0,
      more: false,
      orders: [{ order_id: before, raw: null, metadata: null }],
    });
    const last = stream.frames.at(-1);
    expect(last).toMatchObject({
      order: { order_id: order, status: 'filled', filled_quantity: '10', version: 5 },
    });
    const fill = await stream.until(({ type }) => type === 'fill');
    expect(fill).toMatchObject({
      fill_id: fillId(1),
      order_id: order,
      exchange_id: 'venue_b',
      quantity: '4',
      price: '0.4',
    });
  });

  it('sends movements from outside', async () => {
    const stream = await greeted();
    await stream.subscribe();
    const at = '2026-11-28T04:00:00.123456789Z';
    const own = { at, user_id: 'ada', venue: 'venue_b' } as const;
    const moved = { entry_id: 'e1', asset: 'USD', amount: -2_500_000n, occurred_at: at };
    await cell.write([{ ...own, ...moved, type: 'BALANCE_MOVED', movement: 'EXTERNAL_TRANSFER' }]);
    const frame = await stream.until(({ type }) => type === 'external');
    expect(frame).toMatchObject({
      ...{ type: 'external', subscription_id: 's1', seq: 1, kind: 'TRANSFER', exchange_id: 'venue_b' },
      ...{ asset: 'USD', amount: '-2.5', entry_id: 'e1', occurred_at: '2026-11-28T04:00:00.123Z' },
    });
  });

  it('sends snapshots in parts of 200, and only the venues of the subscription', async () => {
    const events = Array.from({ length: 201 }, () => cell.acceptance('ada'));
    await cell.write([...events, cell.acceptance('ada', { venue: 'venue_e' })]);
    const stream = await greeted();
    await stream.subscribe();
    await stream.subscribe({ exchange_ids: ['venue_e'] });
    expect(told(stream.frames)).toEqual(['0 snapshot 200', '0 snapshot 2']);
    expect(told(stream.frames, 's2')).toEqual(['0 snapshot 1']);
    await cell.accept('ada', { venue: 'venue_e' });
    await cell.accept('ada');
    await stream.untilIt(() => told(stream.frames).length === 4);
    expect(told(stream.frames, 's2')).toEqual(['0 snapshot 1', '1 order_update ACCEPTED v1']);
  });

  it('sends nothing more to an ended subscription, and goes on with the other', async () => {
    const stream = await greeted();
    await stream.subscribe();
    await stream.subscribe();
    expect(await stream.ask('unsubscribe', { subscription_id: 's1' })).toMatchObject({
      type: 'unsubscribed',
    });
    await cell.accept('ada');
    await untilTold(stream, ['0 snapshot 0', '1 order_update ACCEPTED v1'], 's2');
    expect(told(stream.frames)).toEqual(['0 snapshot 0']);
    const second = await connect();
    expect(await second.resume(stream)).toMatchObject({ subscriptions: [{ subscription_id: 's2' }] });
  });

  it('sends a late fill of an order that has ended', async () => {
    const order = await cell.accept('ada');
    await cell.write([
      { ...cell.of('ada', order), type: 'ORDER_ENDED', status: 'cancelled', terminal_reason: 'USER' },
    ]);
    const stream = await greeted();
    await stream.subscribe();
    await cell.write([cell.fill('ada', order, 1_000_000n, 9)]);
    await untilTold(stream, ['0 snapshot 0', `1 fill ${fillId(9)}`, '2 order_update FILL v3']);
  });

  it('sends events even if the cell sends no notice', async () => {
    const stream = await greeted();
    await stream.subscribe();
    await cell.write([cell.acceptance('ada')], true);
    await untilTold(stream, ['0 snapshot 0', '1 order_update ACCEPTED v1']);
  });
});

describe('a connection that comes back', () => {
  it('gets the messages after the last one it received, under the same ids', async () => {
    const first = await greeted();
    await first.subscribe();
    const order = await cell.accept('ada');
    await untilTold(first, ['0 snapshot 0', '1 order_update ACCEPTED v1']);
    first.kill();
    await cell.write([cell.fill('ada', order, 1_000_000n, 1)]);
    const second = await connect();
    expect(await second.resume(first)).toMatchObject({
      resumed: true,
      subscriptions: [{ subscription_id: 's1', channel: 'orders' }],
    });
    await untilTold(second, [`2 fill ${fillId(1)}`, '3 order_update FILL v2']);
    await cell.accept('ada');
    await untilTold(second, [`2 fill ${fillId(1)}`, '3 order_update FILL v2', '4 order_update ACCEPTED v1']);
  });

  it('can resume at another gateway', async () => {
    const first = await greeted();
    await first.subscribe();
    const order = await cell.accept('ada');
    await untilTold(first, ['0 snapshot 0', '1 order_update ACCEPTED v1']);
    await gateway.stop();
    await cell.write([cell.fill('ada', order, 1_000_000n, 1)]);
    await startGateway();
    const second = await connect();
    await second.resume(first);
    await untilTold(second, [`2 fill ${fillId(1)}`, '3 order_update FILL v2']);
  });

  it('gets older events from the projection if they are too old for the journal', async () => {
    const first = await greeted();
    await first.subscribe();
    await gateway.stop();
    const order = await cell.accept('ada');
    await cell.write([cell.fill('ada', order, 1_000_000n, 1)]);
    await startGateway({ reach: 0, projected: new JournalUserEvents(store, 1e6) });
    const second = await connect();
    await second.resume(first);
    await untilTold(second, ['1 order_update ACCEPTED v1', `2 fill ${fillId(1)}`, '3 order_update FILL v2']);
  });

  it('gets a resync and a snapshot if the past events are gone', async () => {
    const first = await greeted();
    await first.subscribe();
    await gateway.stop();
    await cell.accept('ada');
    await startGateway({ reach: 0 });
    const second = await connect();
    await second.resume(first);
    await second.until(({ type }) => type === 'snapshot');
    expect(second.frames.map(({ type, reason }) => `${type} ${reason ?? ''}`)).toEqual([
      'welcome ',
      'heartbeat ',
      'resync HISTORY_GONE',
      'snapshot ',
    ]);
  });

  it('is not resumed with a token of another user', async () => {
    const first = await greeted();
    await first.subscribe();
    const second = await connect('bob');
    expect(await second.resume(first)).toMatchObject({
      ...{ resumed: false, resume_error: 'INVALID', subscriptions: [] },
    });
  });
});

describe('a handshake', () => {
  it('needs an API key, a token, or a token as subprotocol', async () => {
    await expect(gateway.open({})).rejects.toMatchObject({ status: 401 });
    gateway.callers.special.set('eve', { status: 403, error: 'not from here' });
    await expect(connect('eve')).rejects.toMatchObject({ status: 403 });
    const encoded = Buffer.from('ada').toString('base64url');
    const stream = await gateway.open({ protocols: ['authorization', `Bearer.${encoded}`] });
    open.push(stream);
    expect(await stream.hello()).toMatchObject({ type: 'welcome', resumed: false });
    await keyed();
  });

  it('is refused with 429 for the eleventh socket of a user', async () => {
    for (let socket = 0; socket < 10; socket += 1) await connect();
    await expect(connect()).rejects.toMatchObject({ status: 429 });
    await connect('bob');
  });

  it('leads to a socket that closes when its key is revoked or its address is no longer allowed', async () => {
    const revoked = await keyed();
    gateway.callers.special.set('ada', { status: 401, error: 'revoked' });
    expect(await revoked.untilClosed()).toBe(4401);
    gateway.callers.special.delete('ada');
    const elsewhere = await keyed();
    gateway.callers.special.set('ada', { status: 403, error: 'not from here' });
    expect(await elsewhere.untilClosed()).toBe(4403);
  });

  it('without trade:read allows no subscription, and a socket that loses the scope is closed', async () => {
    gateway.callers.special.set('ada', { scopes: ['trade:execute'] });
    const stream = await keyed();
    expect(await stream.ask('subscribe', { channel: 'orders' })).toMatchObject({
      ...{ type: 'error', status: 403, code: 'InsufficientScope' },
      error_details: { code: 'AUTH_INSUFFICIENT_SCOPE', metadata: { classification: 'non_retryable' } },
    });
    gateway.callers.special.delete('ada');
    const other = await keyed();
    gateway.callers.special.set('ada', { scopes: ['trade:execute'] });
    expect(await other.untilClosed()).toBe(4403);
    expect(stream.closed).toBeUndefined();
  });
});

describe('auth.refresh', () => {
  it('accepts a token of the same user, and never replaces an API key', async () => {
    const stream = await greeted();
    expect(await stream.ask('auth.refresh', { token: 'bob' })).toMatchObject({ type: 'error', status: 403 });
    gateway.callers.special.set('eve', { status: 401, error: 'expired' });
    expect(await stream.ask('auth.refresh', { token: 'eve' })).toMatchObject({ type: 'error', status: 401 });
    expect(await stream.ask('auth.refresh', { token: 'ada' })).toMatchObject({ type: 'ack', result: {} });
    const key = await keyed();
    expect(await key.ask('auth.refresh', { token: 'ada' })).toMatchObject({ type: 'error', status: 403 });
  });
});

describe('a session that is about to end', () => {
  it('gets one session_expiring message, and goes on with a newer token', async () => {
    const ends = Math.floor(Date.now() / 1_000) + 30;
    gateway.callers.endSession('ada', ends);
    const stream = await greeted();
    const warning = await stream.until(({ type }) => type === 'session_expiring');
    expect(warning.session_expires_at).toBe(new Date(ends * 1_000).toISOString());
    gateway.callers.special.delete('ada');
    expect(await stream.ask('auth.refresh', { token: 'ada' })).toMatchObject({ type: 'ack', result: {} });
    expect(stream.frames.filter(({ type }) => type === 'session_expiring')).toHaveLength(1);
  });
});

describe('a malformed message', () => {
  it.each([
    'nonsense',
    '[]',
    '{"op":"ping"}',
    '{"req_id":"1"}',
    '{"op":"ping","req_id":"1"}',
    '{"op":"hello","req_id":""}',
  ])('closes the socket if it comes instead of hello: %s', async (text) => {
    const stream = await connect();
    stream.say(text);
    expect(await stream.untilClosed()).toBe(4400);
  });

  it('after hello gets an error, and the socket stays open', async () => {
    const stream = await greeted();
    expect(await stream.ask('fly')).toMatchObject({ type: 'error', status: 400 });
    expect(await stream.ask('subscribe', { channel: 'trades' })).toMatchObject({
      error_details: { code: 'VALIDATION_INVALID_PARAMETER', details: { field: 'channel' } },
    });
    expect(await stream.ask('subscribe', { channel: 'orders', venue: 'x' })).toMatchObject({
      error_details: { code: 'VALIDATION_UNKNOWN_FIELD', details: { field: 'venue' } },
    });
    expect(await stream.ask('ping')).toMatchObject({ type: 'pong' });
    expect(await stream.ask('unsubscribe', { subscription_id: 's9' })).toMatchObject({ status: 400 });
  });
});

describe('a slow reader', () => {
  const limits = { bufferedMessages: 40 };
  /** Fills the buffers of the network quickly. */
  const LONG = 'x'.repeat(10_000);

  const isResynced = async (): Promise<boolean> =>
    (await gateway.registry.metrics()).includes('resyncs_total{reason="SLOW_READER"} 1');

  it('gets the present state instead of the changes that it did not read', async () => {
    await gateway.stop();
    await startGateway({ limits });
    const stream = await greeted();
    await stream.subscribe();
    stream.stopReading();
    const order = await cell.accept('ada', { bot_id: LONG });
    // Wait for another reader after each write, so that not everything is sent at once.
    const reader = await greeted();
    await reader.subscribe();
    const amended = { type: 'ORDER_AMENDED', amend_id: 'a', price: 300_000n } as const;
    for (let written = 20; written <= 8_000 && !(await isResynced()); written += 20) {
      await cell.write(Array.from({ length: 20 }, () => ({ ...cell.of('ada', order), ...amended })));
      await reader.untilIt(() => reader.seen.s1 === written);
    }
    stream.goOnReading();
    const version = cell.orders.get(order)?.version;
    await stream.untilIt(() => versionsIn(stream.frames).at(-1) === version);
    const at = stream.frames.findIndex(({ type }) => type === 'resync');
    expect(stream.frames[at]).toMatchObject({ type: 'resync', subscription_id: 's1', reason: 'SLOW_READER' });
    expect(stream.frames[at + 1]).toMatchObject({ type: 'snapshot', more: false });
    // The snapshot replaces the dropped changes. Before and after it nothing is missing.
    for (const part of [stream.frames.slice(0, at), stream.frames.slice(at + 1)]) {
      const versions = versionsIn(part);
      expect(versions).toEqual(versions.map((_, index) => (versions[0] ?? 0) + index));
    }
    const seqs = stream.frames.flatMap(({ type, seq }) => (type === 'order_update' ? [seq] : []));
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  });

  it('is closed before a fill is dropped, and gets the fill when it resumes', async () => {
    await gateway.stop();
    await startGateway({ limits });
    const stream = await greeted();
    await stream.subscribe();
    stream.stopReading();
    const order = await cell.accept('ada', { quantity: 100_000_000_000n, bot_id: LONG });
    let fills = 0;
    for (let round = 0; round < 80; round += 1) {
      await cell.write(Array.from({ length: 20 }, () => cell.fill('ada', order, 1_000_000n, (fills += 1))));
    }
    stream.goOnReading();
    expect(await stream.untilClosed()).toBe(4431);
    const second = await connect();
    await second.resume(stream);
    await second.untilIt(() => second.frames.some(({ fill_id: id }) => id === fillId(fills)));
    const all = [...stream.frames, ...second.frames].flatMap(({ fill_id: id }) =>
      id === undefined ? [] : [id],
    );
    expect(all).toEqual(Array.from({ length: fills }, (_, fill) => fillId(fill + 1)));
  });
});

describe('commands', () => {
  it('run in order, keep the spelling of numbers, and get the answers of HTTP', async () => {
    const stream = await greeted();
    const begun: string[] = [];
    gateway.runCommand = async ({ members }) => {
      begun.push(members.get('order') ?? '');
      await eventually(() => expect(gateway.commands.length).toBeGreaterThan(0));
      return { status: 200, body: '{"order_id":"o"}', isReplay: true };
    };
    stream.say('{"op":"order.submit","req_id":"a","order":{"price":0.10,"quantity":1e1}}');
    stream.say('{"op":"order.submit","req_id":"b","order":{"price":0.2}}');
    const ack = { type: 'ack', result: { order_id: 'o' }, idempotent_replay: true };
    expect(await stream.until(({ req_id }) => req_id === 'b')).toEqual({ ...ack, req_id: 'b' });
    expect(begun).toEqual(['{"price":0.10,"quantity":1e1}', '{"price":0.2}']);
    expect(stream.frames.slice(1).map(({ req_id }) => req_id)).toEqual(['a', 'b']);
    const [one, all] = [{ order_id: 'o' }, { exchange_id: 'venue_b' }];
    const others = { 'order.cancel': one, 'order.cancel_all': all, 'order.amend': { ...one, price: 0.3 } };
    for (const [op, fields] of Object.entries(others))
      expect(await stream.ask(op, fields)).toMatchObject(ack);
    expect(gateway.commands.slice(2).map(({ name }) => name)).toEqual(Object.keys(others));
    gateway.runCommand = () => Promise.resolve({ status: 403, body: '' });
    expect(await stream.ask('order.cancel_all', all, 'c')).toEqual({
      ...{ type: 'error', req_id: 'c', status: 403 },
    });
  });

  it('carry the connection if it has cancel on disconnect, and the cell gets its loss, resume and bye', async () => {
    const stream = await greeted('ada', { cancel_on_disconnect: { grace_ms: 5_000 } });
    const { connection_id: id } = await stream.until(({ type }) => type === 'welcome');
    await stream.subscribe();
    await stream.ask('order.submit', { order: {} });
    expect(gateway.commands[0]?.connectionId).toBe(id);
    const presentIds = (): unknown[] =>
      cell.heard.flatMap((request) =>
        request.op === 'presence' ? request.here.map(({ connection_id }) => connection_id) : [],
      );
    // Sent at once, and then every second while the socket is open.
    await eventually(() => expect(presentIds().slice(0, 3)).toEqual([id, id, id]));
    stream.kill();
    const reports = (): unknown[] =>
      cell.heard.flatMap((request) =>
        request.op === 'connection' ? [[request.how, request.connection_id]] : [],
      );
    await eventually(() => expect(reports()).toEqual([['LOST', id]]));
    const second = await connect();
    await second.resume(stream, { cancel_on_disconnect: { grace_ms: 5_000 } });
    await eventually(() => expect(reports().slice(1)).toEqual([['RESUMED', id]]));
    await second.ask('bye');
    expect(await second.untilClosed()).toBe(1000);
    await eventually(() => expect(reports().slice(2)).toEqual([['BYE', id]]));
  });

  it('end on a socket that the cell has taken for lost: it is closed, and the connection resumes on a later one', async () => {
    const hello = { cancel_on_disconnect: { grace_ms: 5_000 } };
    const stream = await greeted('ada', hello);
    await stream.subscribe();
    const lapsed = new Set<number>();
    const attachments = (): number[] =>
      cell.heard.flatMap((request) =>
        request.op === 'presence' ? request.here.map(({ attachment }) => attachment) : [],
      );
    cell.answer = (request) => {
      const gone = request.op === 'presence' ? request.here.filter((one) => lapsed.has(one.attachment)) : [];
      return { status: 200, body: JSON.stringify({ lapsed: gone.map(({ connection_id: id }) => id) }) };
    };
    await eventually(() => expect(attachments().length).toBeGreaterThan(1));
    const [first = 0] = attachments();
    lapsed.add(first);
    expect(await stream.untilClosed()).toBe(4503);
    const second = await connect();
    await second.resume(stream, hello);
    await eventually(() => expect(Math.max(...attachments())).toBeGreaterThan(first));
    expect(await second.ask('ping')).toMatchObject({ type: 'pong' });
  });
});

describe('a venue that keys may not use', () => {
  it('sends nothing and uses no seq, and gets a new snapshot when access returns', async () => {
    const stream = await keyed();
    await stream.subscribe();
    gateway.access.set('venue_b', false);
    const change = await stream.until(({ type }) => type === 'provider_access');
    expect(change).toMatchObject({ exchange_id: 'venue_b', enabled: false });
    await cell.accept('ada');
    await cell.accept('ada', { venue: 'venue_e' });
    await untilTold(stream, ['0 snapshot 0', '1 order_update ACCEPTED v1']);
    gateway.access.set('venue_b', true);
    await untilTold(stream, ['0 snapshot 0', '1 order_update ACCEPTED v1', '1 snapshot 2']);
    expect(stream.frames.map(({ type }) => type).slice(-4)).toEqual([
      'heartbeat',
      'heartbeat',
      'resync',
      'snapshot',
    ]);
  });
});
