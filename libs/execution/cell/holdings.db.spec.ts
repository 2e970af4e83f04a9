import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CellSession, REQUEST } from '#libs/testing/cells/cell-session.js';
import { submission } from '#libs/testing/cells/orders.js';
import { fillOf } from '#libs/testing/cells/played-executor.js';
import { ONE } from '../rules/micros.js';

/** Leaves time for slow, busy machines. */
jest.setTimeout(30_000);

const TEN = 10n * ONE;
let session: CellSession;

beforeEach(async () => {
  session = await CellSession.open();
});
afterEach(() => session.close());

describe('shares', () => {
  it('are reserved by live sells and released when these end', async () => {
    await session.submit();
    await session.executor.places([TEN]);
    const sell = { side: 'sell', price: 500_000n } as const;
    const first = await session.submit({ ...sell, quantity: 6n * ONE });
    expect(await session.positions()).toMatchObject([
      { reserved: '6', available_to_sell: '4', reservations_verified: true },
    ]);
    const more = await session.live.ask<'submit'>(
      submission(session.user_id, { ...sell, quantity: 5n * ONE }),
    );
    expect(more.code).toBe('INSUFFICIENT_POSITION');
    await session.cancel(first);
    expect(await session.positions()).toMatchObject([{ reserved: '0', available_to_sell: '10' }]);
    await session.submit({ ...sell, quantity: TEN });
    await session.executor.places([TEN]);
    expect(await session.exposure()).toMatchObject({
      positions: [],
      closed: [{ realized_pnl: '0.98' }],
      closed_token_ids: ['RAIN:Yes'],
    });
  });

  it('of a sell in doubt are not verified, and another sell is refused without a number', async () => {
    await session.submit();
    await session.executor.places([TEN]);
    await session.submit({ side: 'sell', quantity: 2n * ONE });
    const task = await session.executor.task('submit');
    await session.executor.begin(task.terms);
    await session.executor.report(task, { what: 'doubtful', reason: 'cut' });
    await session.executor.report(await session.executor.task('query'), { what: 'doubtful', reason: 'cut' });
    expect(await session.positions()).toMatchObject([{ reservations_verified: false }]);
    const { status, code, body } = await session.live.ask<'submit'>(
      submission(session.user_id, { side: 'sell', quantity: ONE }),
    );
    expect([status, code]).toEqual([409, 'POSITION_RESERVATION_UNVERIFIED']);
    expect(JSON.stringify(body)).not.toContain('details');
    // The refusal made the cell query the venue at once. Buys are not affected.
    expect((await session.executor.task('query')).terms.order_id).toBe(task.terms.order_id);
    await session.submit({ market_id: 'SNOW' });
  });
});

describe('shares of a sell that is just being sent', () => {
  it('are reserved, and unverified once the venue has not answered in time', async () => {
    await session.submit();
    await session.executor.places([TEN]);
    await session.submit({ side: 'sell', quantity: 2n * ONE });
    const { terms } = await session.executor.task('submit');
    await session.executor.begin(terms);
    expect(await session.positions()).toMatchObject([
      { reserved: '2', available_to_sell: '8', reservations_verified: true },
    ]);
    await session.submit({ side: 'sell', quantity: ONE });
    session.leap(1_001);
    expect(await session.exposure()).toMatchObject({
      ...{ positions: [{ reservations_verified: false }], reservations_authoritative: false },
    });
    const late = submission(session.user_id, { side: 'sell', quantity: ONE });
    expect(await session.refusal(late)).toEqual([409, 'POSITION_RESERVATION_UNVERIFIED']);
  });
});

describe('an account', () => {
  const balances = (value: bigint, account = 'account-b', as_of = 1_000_000) =>
    ({
      ...({ op: 'balances', account, venue: 'venue_b', tokens: [], movements: [] } as const),
      ...{ user_id: session.user_id, as_of, cash: [{ asset: 'USD', value }] },
    }) as const;

  it('with a difference in two passes is shown to operators and reduce-only, until two passes find none', async () => {
    await session.live.ask(balances(100n * ONE));
    await session.live.ask(balances(90n * ONE));
    await session.submit();
    await session.live.ask(balances(90n * ONE));
    const { body } = await session.live.ask<'reconciliation'>({ op: 'reconciliation' });
    expect(body.differences).toMatchObject([{ asset: 'USD', recorded: 100n * ONE, observed: 90n * ONE }]);
    const refused = await session.live.ask<'submit'>(submission(session.user_id));
    expect(refused.code).toBe('EXCHANGE_TRADING_HALTED');
    expect(refused.body).toMatchObject({ details: { scope: 'user', mode: 'reduce_only' } });
    await session.live.ask(balances(100n * ONE));
    await session.live.ask(balances(100n * ONE));
    await session.submit();
  });

  it('that is replaced is booked out, and the new account is booked in', async () => {
    await session.live.ask(balances(100n * ONE));
    const other = {
      op: 'link_account',
      user_id: session.user_id,
      venue: 'venue_b',
      account: 'other',
    } as const;
    expect((await session.live.ask(other)).status).toBe(200);
    expect((await session.live.ask(other)).status).toBe(200);
    // A read of the former account that ends only now counts for nothing.
    await session.live.ask(balances(100n * ONE));
    await session.live.ask(balances(30n * ONE, 'other'));
    const moved = (await session.live.journaled()).filter(({ type }) => type === 'BALANCE_MOVED');
    expect(moved).toMatchObject([
      { movement: 'DEPOSIT', amount: 100n * ONE },
      { movement: 'WITHDRAWAL', amount: -100n * ONE },
      { movement: 'DEPOSIT', amount: 30n * ONE },
    ]);
    await session.live.ask(balances(30n * ONE, 'other'));
    expect((await session.live.ask<'reconciliation'>({ op: 'reconciliation' })).body.differences).toEqual([]);
  });

  it('is not replaced while a transfer from it is under way', async () => {
    await session.live.ask(balances(100n * ONE));
    const { user_id } = session;
    await session.live.ask({
      ...({ op: 'transfer', venue: 'venue_b', direction: 'to_vault', request_id: REQUEST } as const),
      ...{ user_id, asset: 'USD', amount: 60n * ONE, client_request_id: 'move-1' },
    });
    const other = { op: 'link_account', user_id, venue: 'venue_b', account: 'other' } as const;
    expect((await session.live.ask(other)).status).toBe(400);
  });

  it('shows external orders and their fills', async () => {
    const foreign = { market_id: 'RAIN', outcome: 'No', outcome_index: 1, side: 'buy' } as const;
    const order = {
      ...foreign,
      ...{
        ...({ exchange_order_id: 'foreign-1', status: 'resting', price: 300_000n } as const),
        ...{ quantity: TEN, filled: 4n * ONE },
      },
    } as const;
    const { fill } = fillOf(await placed(), 4n * ONE, 'foreign');
    const fills = [{ ...foreign, exchange_order_id: 'foreign-1', fill: { ...fill, price: 300_000n } }];
    for (let times = 0; times < 2; times += 1)
      await session.live.ask({
        op: 'observed',
        account: 'account-b',
        user_id: session.user_id,
        venue: 'venue_b',
        orders: [order],
        fills,
      });
    const { body } = await session.live.ask<'live_orders'>({
      op: 'live_orders',
      user_id: session.user_id,
      request_id: REQUEST,
    });
    const external = body.orders.filter(({ terms }) => terms.origin === 'external');
    expect(external).toMatchObject([
      { status: 'partially_filled', exchange_order_id: 'foreign-1', filled: 4n * ONE },
    ]);
    expect(await session.positions()).toMatchObject([{ outcome: 'No', net_size: '4' }]);
    const [{ terms } = { terms: undefined }] = external;
    expect((await session.cancel(terms?.order_id ?? '')).body).toMatchObject({ status: 'cancel_requested' });
    expect((await session.executor.task('cancel')).exchange_order_id).toBe('foreign-1');
  });

  async function placed() {
    await session.submit();
    return session.executor.places();
  }

  it('sends a transfer to the vault once, after the amount was held', async () => {
    await session.live.ask(balances(100n * ONE));
    const transfer = {
      ...({ op: 'transfer', venue: 'venue_b', direction: 'to_vault', request_id: REQUEST } as const),
      ...{ user_id: session.user_id, asset: 'USD', amount: 60n * ONE, client_request_id: 'move-1' },
    };
    const { body } = await session.live.ask<'transfer'>(transfer);
    const { transfer_id } = body.transfer.terms;
    expect((await session.live.ask<'transfer'>(transfer)).body.transfer.terms.transfer_id).toBe(transfer_id);
    const other = await session.live.ask<'transfer'>({ ...transfer, client_request_id: 'move-2' });
    expect(other.code).toBe('INSUFFICIENT_BALANCE');
    const task = await session.executor.task('transfer');
    const sent = async (reference: string): Promise<number> => {
      const step = { op: 'transfer_report', user_id: session.user_id, transfer_id, step: 'sent' } as const;
      return (await session.live.ask({ ...step, reference })).status;
    };
    expect(await sent('r-1')).toBe(200);
    // A repeat is allowed, since the answer may be lost. Another executor must not send it under another reference.
    expect([await sent('r-1'), await sent('r-2')]).toEqual([200, 409]);
    await session.live.ask({
      op: 'transfer_report',
      user_id: session.user_id,
      transfer_id,
      step: 'completed',
      reference: 'r-1',
    });
    expect(await sent('r-1')).toBe(409);
    await session.executor.told(task.task_id);
    await session.live.ask(balances(40n * ONE));
    await session.live.ask(balances(40n * ONE));
    expect((await session.live.ask<'reconciliation'>({ op: 'reconciliation' })).body.differences).toEqual([]);
    const { body: done } = await session.live.ask<'transfers'>({
      op: 'transfers',
      user_id: session.user_id,
      request_id: REQUEST,
    });
    expect(done.transfers).toMatchObject([{ status: 'COMPLETED', reference: 'r-1' }]);
  });
});
