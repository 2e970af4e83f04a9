import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CellSession, REQUEST } from '#libs/testing/cells/cell-session.js';
import { eventually } from '#libs/testing/eventually.js';

/** Leaves time for slow, busy machines. */
jest.setTimeout(30_000);

const ID = '0d7a3f2c-52a1-4c0e-9d53-1f6f5a8f0c11';
const GRACE = 6_000;
let session: CellSession;

beforeEach(async () => {
  session = await CellSession.open();
});
afterEach(() => session.close());

/** Reports the connection as open. Returns the connections that the cell has taken for lost. */
async function beat(attachment = 1, grace_ms = GRACE): Promise<readonly string[]> {
  const here = [{ connection_id: ID, grace_ms, attachment }];
  const { body } = await session.live.ask<'presence'>({ op: 'presence', gateway: 'g', here });
  return body.lapsed;
}

function report(how: 'LOST' | 'RESUMED' | 'BYE', attachment: number): Promise<unknown> {
  return session.live.ask({
    ...{ op: 'connection', user_id: session.user_id, request_id: REQUEST },
    ...{ connection_id: ID, how, attachment, grace_ms: GRACE },
  });
}

/** Moves the time in steps, as for a process that is not suspended. */
async function pass(seconds: number, each: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    session.leap(1_000);
    await each();
    await session.live.ask({ op: 'cell_status' });
  }
}

async function statusOf(order_id: string): Promise<unknown> {
  return (await session.orderOf(order_id)).status;
}

async function isCancelled(order_id: string): Promise<void> {
  await eventually(async () => {
    await pass(1);
    expect(await session.orderOf(order_id)).toMatchObject({ terminal_reason: 'DISCONNECT' });
  });
}

describe('orders of a connection whose gateway died without a report', () => {
  it('are cancelled after the lease and the grace, but no other orders are', async () => {
    await beat();
    const order_id = await session.submit({ connection_id: ID });
    const other = await session.submit();
    await pass(10, () => beat());
    expect(await statusOf(order_id)).toBe('queued');
    await pass(4);
    expect(await statusOf(order_id)).toBe('queued');
    await isCancelled(order_id);
    expect(await statusOf(other)).toBe('queued');
  });

  it('are cancelled also after a restart of the cell, but stay if a gateway reports the connection in time', async () => {
    await beat();
    const order_id = await session.submit({ connection_id: ID });
    await session.restart();
    await pass(10, () => beat());
    expect(await statusOf(order_id)).toBe('queued');
    await session.restart();
    await isCancelled(order_id);
  });

  it('stay if the gateway reports again within the grace', async () => {
    await beat(1, 30_000);
    const order_id = await session.submit({ connection_id: ID });
    await eventually(async () => {
      await pass(1);
      const events = await session.live.journaled();
      expect(events.some((event) => event.type === 'CANCEL_TIMER_ARMED' && event.due_at !== undefined)).toBe(
        true,
      );
    });
    await pass(10, () => beat());
    expect(await statusOf(order_id)).toBe('queued');
  });
});

describe('a gateway that reports again after the orders of its connection were cancelled', () => {
  it('learns of the cancel for the old socket, but not for a later one', async () => {
    expect(await beat()).toEqual([]);
    const order_id = await session.submit({ connection_id: ID });
    await isCancelled(order_id);
    expect(await beat()).toEqual([ID]);
    await report('RESUMED', 2);
    expect(await beat(2)).toEqual([]);
    const next = await session.submit({ connection_id: ID });
    await pass(10, () => beat(2));
    expect(await statusOf(next)).toBe('queued');
  });
});

describe('a grace that ends while the cell is down or suspended', () => {
  it('waits for reports of gateways, so a resumed connection keeps its orders', async () => {
    await beat();
    const order_id = await session.submit({ connection_id: ID });
    await report('LOST', 1);
    await session.restart(60_000);
    await report('RESUMED', 2);
    await pass(10, () => beat(2));
    expect(await statusOf(order_id)).toBe('queued');
    await report('LOST', 2);
    session.leap(60_000);
    await report('RESUMED', 3);
    await pass(10, () => beat(3));
    expect(await statusOf(order_id)).toBe('queued');
  });

  it('still cancels the orders if no gateway reports the connection', async () => {
    await beat();
    const order_id = await session.submit({ connection_id: ID });
    await report('LOST', 1);
    await session.restart(60_000);
    await isCancelled(order_id);
  });
});

describe('a connection', () => {
  it('is not lost with its former socket, also after a restart of the cell', async () => {
    await beat();
    const order_id = await session.submit({ connection_id: ID });
    await report('RESUMED', 2);
    await session.restart();
    await report('LOST', 1);
    await pass(10, () => beat(2));
    expect(await statusOf(order_id)).toBe('queued');
  });

  it('that was closed with a bye does not cancel an order that arrives later', async () => {
    await beat();
    await report('BYE', 1);
    const order_id = await session.submit({ connection_id: ID });
    await pass(12);
    expect(await statusOf(order_id)).toBe('queued');
  });

  it('that was closed with a bye leaves its orders, also after a restart', async () => {
    await beat();
    const order_id = await session.submit({ connection_id: ID });
    await report('BYE', 1);
    await pass(12);
    await session.restart();
    await pass(12);
    expect(await statusOf(order_id)).toBe('queued');
  });

  it('that was resumed on another socket is not lost with its former socket', async () => {
    await beat(1);
    const order_id = await session.submit({ connection_id: ID });
    await report('RESUMED', 2);
    await report('LOST', 1);
    await pass(10, () => beat(2));
    expect(await statusOf(order_id)).toBe('queued');
    await report('LOST', 2);
    await isCancelled(order_id);
  });
});

describe('the sockets of a user', () => {
  const open = async (gateway: string, count: number): Promise<number> => {
    const { user_id } = session;
    const { status } = await session.live.ask({
      ...{ op: 'sockets', user_id, request_id: REQUEST, gateway, open: count },
    });
    return status;
  };
  const remaining = async (): Promise<unknown> => {
    const { user_id } = session;
    const { body } = await session.live.ask<'limits'>({ op: 'limits', user_id, request_id: REQUEST });
    return body.limits.find(({ limit }) => limit === 'sockets');
  };
  const row = { limit: 'sockets', scope: 'USER', max: 10, window_ms: 0 };

  it('are counted at all gateways together, and the sockets of a dead gateway no longer count', async () => {
    await session.close();
    session = await CellSession.open({ limitsFactor: 1 });
    expect(await remaining()).toMatchObject({ ...row, remaining: 10 });
    for (let count = 1; count <= 6; count += 1) expect(await open('g-1', count)).toBe(200);
    for (let count = 1; count <= 4; count += 1) expect(await open('g-2', count)).toBe(200);
    expect([await open('g-2', 5), await open('g-1', 7)]).toEqual([429, 429]);
    expect(await remaining()).toMatchObject({ ...row, remaining: 0 });
    expect([await open('g-1', 5), await open('g-2', 5)]).toEqual([200, 200]);
    const sockets = [{ user_id: session.user_id, open: 5 }];
    await pass(6, () => session.live.ask({ op: 'presence', gateway: 'g-2', sockets, here: [] }));
    expect(await remaining()).toMatchObject({ ...row, remaining: 5 });
    await session.restart();
    await session.live.ask({ op: 'presence', gateway: 'g-2', sockets, here: [] });
    // The restart uses the wide limits of the other tests.
    expect(await remaining()).toMatchObject({ remaining: 99_995 });
  });
});
