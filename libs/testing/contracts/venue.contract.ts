import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { instantFromNanos } from '#libs/base/instant.js';
import type { VenueMarket } from '#libs/execution/rules/markets.js';
import { ONE } from '#libs/execution/rules/micros.js';
import type { OrderTerms } from '#libs/execution/rules/order.js';
import type { SubmitOutcome, Venue, VenueAccount } from '#libs/execution/venues/port.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '../eventually.js';

type Call = 'submit' | 'cancel' | 'read';
type VenueFault =
  'drop_request' | 'drop_reply' | 'unreadable' | 'error' | 'reject' | 'rate_limit' | 'duplicate_fill';

/** An adapter that reaches a practice venue over HTTP, and actions of the venue's operator. */
export interface VenueSubject {
  readonly venue: Venue;
  /** The vault's own account. */
  readonly vault: string;
  readonly collateral: string;
  fund(account: string, dollars: string): Promise<void>;
  market(): Promise<string>;
  setStatus(market_id: string, status: 'halted' | 'closed'): Promise<void>;
  resolve(market_id: string, payouts: readonly [string, string]): Promise<void>;
  /** Sets a fault for the next call of these kinds. Without calls, for the next fill that is reported. */
  fault(fault: VenueFault, calls: readonly Call[]): Promise<void>;
  close(): Promise<void>;
}

interface Trader {
  readonly user_id: string;
  readonly account: VenueAccount;
}

const clock = new SystemClock();
const CENT = 10_000n;

export function describeVenue(name: string, create: () => Promise<VenueSubject>): void {
  describe(name, () => {
    let subject: VenueSubject;
    beforeAll(async () => {
      subject = await create();
    });
    afterAll(() => subject.close());

    async function trader(dollars = '1000'): Promise<Trader> {
      const user_id = randomUUID();
      const address = await subject.venue.open(user_id);
      if (dollars !== '0') await subject.fund(address, dollars);
      return { user_id, account: subject.venue.account(user_id, address) };
    }

    async function listed(): Promise<VenueMarket> {
      const market = await subject.venue.markets.market(await subject.market());
      if (market === undefined) throw new Error('the new market is not listed');
      return market;
    }

    /** Trades both outcomes at once, because a pair of both sides costs a dollar. */
    async function pairOf(market: VenueMarket, one: Trader, other: Trader, shares: bigint): Promise<void> {
      await placed(one, termsOf(one, market, { price: 60n * CENT, quantity: shares }));
      await placed(other, termsOf(other, market, { price: 40n * CENT, quantity: shares, outcome_index: 1 }));
    }

    describe('accounts', () => {
      it('are opened once, however often they are requested', async () => {
        const user_id = randomUUID();
        const account = await subject.venue.open(user_id);
        expect(await subject.venue.open(user_id)).toBe(account);
        expect(await subject.venue.open(randomUUID())).not.toBe(account);
      });

      it('show money from outside as a deposit', async () => {
        const { account } = await trader('12.5');
        expect(sum(await account.balances())).toBe(12_500_000n);
        const [deposit] = await account.movements('2020-01-01T00:00:00.000000000Z');
        expect(deposit).toMatchObject({
          ...{ kind: 'deposit', asset: subject.collateral, amount: 12_500_000n },
        });
      });
    });

    describe('orders', () => {
      it('rest, are found by either id, and are cancelled', async () => {
        const [one, market] = [await trader(), await listed()];
        const terms = termsOf(one, market, { price: 40n * CENT });
        const order = await placed(one, terms);
        expect(order.order).toMatchObject({ status: 'resting', filled: 0n });
        const name = { venue_client_id: one.account.clientIdOf(terms.order_id, 1), terms };
        const { exchange_order_id } = order.order;
        for (const by of [name, { ...name, exchange_order_id }]) {
          const { outcome, call } = await one.account.order(by);
          expect(outcome).toMatchObject({ exchange_order_id, status: 'resting', price: 40n * CENT });
          expect(call).toMatchObject({ operation: 'read', http_status: 200 });
        }
        expect(await one.account.openOrders()).toMatchObject([
          { exchange_order_id, market_id: market.market_id, outcome_index: 0, side: 'buy' },
        ]);
        const { outcome: cancelled } = await one.account.cancel({ ...name, exchange_order_id });
        expect(cancelled).toMatchObject({ what: 'cancelled', order: { status: 'cancelled', filled: 0n } });
        expect((await one.account.cancel({ ...name, exchange_order_id })).outcome).toEqual({ what: 'gone' });
        expect(await one.account.openOrders()).toEqual([]);
      });

      it("are cancelled by our own id if the venue's id is unknown", async () => {
        const [one, market] = [await trader(), await listed()];
        const terms = termsOf(one, market, { price: 40n * CENT });
        await placed(one, terms);
        const name = { venue_client_id: one.account.clientIdOf(terms.order_id, 1), terms };
        expect((await one.account.cancel(name)).outcome).toMatchObject({ what: 'cancelled' });
      });

      it('trade with the other outcome, and both sides see one fill each', async () => {
        const [one, other, market] = [await trader(), await trader(), await listed()];
        const since = now();
        await pairOf(market, one, other, 5n * ONE);
        const [maker] = await one.account.fills(since);
        const [taker] = await other.account.fills(since);
        expect(maker).toMatchObject({
          ...{ market_id: market.market_id, outcome: market.outcomes[0]?.outcome, side: 'buy' },
          fill: { price: 60n * CENT, quantity: 5n * ONE, liquidity: 'maker' },
        });
        expect(taker).toMatchObject({
          outcome: market.outcomes[1]?.outcome,
          fill: { price: 40n * CENT, quantity: 5n * ONE, liquidity: 'taker' },
        });
        expect(maker?.fill.fill_id).not.toBe(taker?.fill.fill_id);
        expect((await other.account.balances()).tokens).toMatchObject([
          { market_id: market.market_id, outcome: market.outcomes[1]?.outcome, quantity: 5n * ONE },
        ]);
      });

      it('that do not rest report why they found no match', async () => {
        const [one, other, market] = [await trader(), await trader(), await listed()];
        const ioc = { time_in_force: 'IOC', price: 50n * CENT } as const;
        const first = await placed(one, termsOf(one, market, ioc));
        expect(first).toMatchObject({ order: { status: 'cancelled', filled: 0n }, unfilled: 'empty' });
        expect(first.order.exchange_order_id).not.toBe('');
        await placed(other, termsOf(other, market, { price: 45n * CENT, outcome_index: 1 }));
        // The bid for the other outcome at 0.45 is an offer of this outcome at 0.55.
        expect(await placed(one, termsOf(one, market, ioc))).toMatchObject({
          ...{ order: { filled: 0n }, unfilled: 'beyond-bound' },
        });
      });

      it('fill in part, and cancel the rest if they must not rest', async () => {
        const [one, other, market] = [await trader(), await trader(), await listed()];
        await placed(one, termsOf(one, market, { price: 60n * CENT, quantity: 3n * ONE }));
        const terms = termsOf(other, market, {
          ...{ price: 45n * CENT, quantity: 5n * ONE, outcome_index: 1, time_in_force: 'IOC' },
        });
        expect(await placed(other, terms)).toMatchObject({
          order: { status: 'cancelled', filled: 3n * ONE, quantity: 5n * ONE },
        });
      });

      it('that would trade are refused if they are post-only', async () => {
        const [one, other, market] = [await trader(), await trader(), await listed()];
        await placed(one, termsOf(one, market, { price: 60n * CENT }));
        const terms = termsOf(other, market, { price: 45n * CENT, outcome_index: 1, post_only: true });
        expect(await submitted(other, terms)).toMatchObject({
          ...{ what: 'refused', failure: { code: 'POST_ONLY_WOULD_CROSS' } },
        });
      });

      it('without enough money or shares are refused', async () => {
        const [poor, market] = [await trader('1'), await listed()];
        const buy = termsOf(poor, market, { price: 60n * CENT, quantity: 10n * ONE });
        expect(await submitted(poor, buy)).toMatchObject({ failure: { code: 'INSUFFICIENT_BALANCE' } });
      });

      it('do not trade with their own account', async () => {
        const [one, market] = [await trader(), await listed()];
        await placed(one, termsOf(one, market, { price: 60n * CENT }));
        const terms = termsOf(one, market, { price: 50n * CENT, outcome_index: 1, time_in_force: 'IOC' });
        const outcome = await submitted(one, terms);
        const isPrevented =
          (outcome.what === 'placed' && outcome.unfilled === 'own-order') ||
          (outcome.what === 'refused' && outcome.failure.code === 'SELF_TRADE_PREVENTED');
        expect(isPrevented).toBe(true);
      });

      it('end when their market closes', async () => {
        const [one, market] = [await trader(), await listed()];
        const terms = termsOf(one, market, { price: 60n * CENT });
        const { order } = await placed(one, terms);
        await subject.setStatus(market.market_id, 'closed');
        const name = { ...order, venue_client_id: one.account.clientIdOf(terms.order_id, 1), terms };
        expect((await one.account.order(name)).outcome).toMatchObject({
          ...{ status: 'cancelled', ended_by: 'market-closed' },
        });
        expect(await submitted(one, termsOf(one, market, { price: 60n * CENT }))).toMatchObject({
          ...{ what: 'refused', failure: { code: 'VALIDATION_MARKET_CLOSED' } },
        });
        expect(await subject.venue.markets.market(market.market_id)).toMatchObject({ status: 'closed' });
      });
    });

    describe('problems that users of other systems had', () => {
      it('an order that fills at once is found by its own id, though it never was among the open orders', async () => {
        const [one, other, market] = [await trader(), await trader(), await listed()];
        await placed(one, termsOf(one, market, { price: 60n * CENT, quantity: 5n * ONE }));
        const terms = termsOf(other, market, {
          ...{ kind: 'market', price: 45n * CENT, quantity: 5n * ONE, outcome_index: 1 },
        });
        expect(await placed(other, terms)).toMatchObject({ order: { status: 'filled', filled: 5n * ONE } });
        expect(await other.account.openOrders()).toEqual([]);
        const name = { venue_client_id: other.account.clientIdOf(terms.order_id, 1), terms };
        expect((await other.account.order(name)).outcome).toMatchObject({
          ...{ status: 'filled', filled: 5n * ONE, venue_client_id: name.venue_client_id },
        });
      });

      it('a cancel after the fill reports that the order is gone, and the order is filled', async () => {
        const [one, other, market] = [await trader(), await trader(), await listed()];
        const terms = termsOf(one, market, { price: 60n * CENT, quantity: 5n * ONE });
        const { order } = await placed(one, terms);
        const price = 45n * CENT;
        await placed(other, termsOf(other, market, { price, quantity: 5n * ONE, outcome_index: 1 }));
        const { exchange_order_id } = order;
        const venue_client_id = one.account.clientIdOf(terms.order_id, 1);
        const name = { exchange_order_id, venue_client_id, terms };
        expect((await one.account.cancel(name)).outcome).toEqual({ what: 'gone' });
        expect((await one.account.order(name)).outcome).toMatchObject({
          ...{ status: 'filled', filled: 5n * ONE },
        });
      });

      it('the same order sent again under its id opens no second position', async () => {
        const [one, market] = [await trader(), await listed()];
        const terms = termsOf(one, market, { price: 40n * CENT });
        await placed(one, terms);
        expect(await submitted(one, terms)).toMatchObject({ what: 'doubtful' });
        expect(await one.account.openOrders()).toHaveLength(1);
      });

      it('one venue trade with several orders of an account gives each fill an id of its own', async () => {
        const [one, other, market] = [await trader(), await trader(), await listed()];
        const since = now();
        for (const price of [61n * CENT, 60n * CENT]) {
          await placed(one, termsOf(one, market, { price, quantity: 2n * ONE }));
        }
        const price = 45n * CENT;
        await placed(other, termsOf(other, market, { price, quantity: 4n * ONE, outcome_index: 1 }));
        await subject.fault('duplicate_fill', []);
        const fills = [...(await one.account.fills(since)), ...(await other.account.fills(since))];
        expect(new Set(fills.map(({ fill }) => fill.fill_id)).size).toBe(4);
        const shares = new Map(fills.map(({ fill }) => [fill.fill_id, fill.quantity]));
        expect([...shares.values()].reduce((total, quantity) => total + quantity, 0n)).toBe(8n * ONE);
      });

      it('a market order beyond its bound reports that, and does not rest', async () => {
        const [one, other, market] = [await trader(), await trader(), await listed()];
        await pairOf(market, one, other, 5n * ONE);
        await placed(one, termsOf(one, market, { price: 70n * CENT, side: 'sell' }));
        const third = await trader();
        const terms = termsOf(third, market, { kind: 'market', price: 65n * CENT, time_in_force: 'GTC' });
        expect(await placed(third, terms)).toMatchObject({
          ...{ unfilled: 'beyond-bound', order: { status: 'cancelled', filled: 0n } },
        });
        expect(await third.account.openOrders()).toEqual([]);
      });

      it('a sale without the shares is refused, and a sale with the shares rests', async () => {
        const [one, other, market] = [await trader(), await trader(), await listed()];
        await pairOf(market, one, other, 5n * ONE);
        const sale = { price: 70n * CENT, side: 'sell', quantity: 5n * ONE } as const;
        const third = await trader('0');
        expect((await submitted(third, termsOf(third, market, sale))).what).toBe('refused');
        const { order } = await placed(one, termsOf(one, market, sale));
        expect(await one.account.openOrders()).toMatchObject([
          { exchange_order_id: order.exchange_order_id, side: 'sell', outcome_index: 0, price: 70n * CENT },
        ]);
      });
    });

    describe('an unknown outcome', () => {
      it.each(['drop_reply', 'unreadable'] as const)(
        'of a submit (%s) is reported, and the order is found by its own id',
        async (fault) => {
          const [one, market] = [await trader(), await listed()];
          const terms = termsOf(one, market, { price: 40n * CENT });
          await subject.fault(fault, ['submit']);
          expect(await submitted(one, terms)).toMatchObject({ what: 'doubtful' });
          const name = { venue_client_id: one.account.clientIdOf(terms.order_id, 1), terms };
          expect((await one.account.order(name)).outcome).toMatchObject({ status: 'resting' });
        },
      );

      it.each(['drop_request', 'error'] as const)(
        'of a submit that was never accepted (%s) is reported, and the order does not exist',
        async (fault) => {
          const [one, market] = [await trader(), await listed()];
          const terms = termsOf(one, market, { price: 40n * CENT });
          await subject.fault(fault, ['submit']);
          expect(await submitted(one, terms)).toMatchObject({ what: 'doubtful' });
          const name = { venue_client_id: one.account.clientIdOf(terms.order_id, 1), terms };
          expect((await one.account.order(name)).outcome).toBeUndefined();
        },
      );

      it('is not reported for an order that the venue has refused', async () => {
        const [one, market] = [await trader(), await listed()];
        for (const fault of ['reject', 'rate_limit'] as const) {
          await subject.fault(fault, ['submit']);
          const outcome = await submitted(one, termsOf(one, market, { price: 40n * CENT }));
          expect(outcome.what).toBe('refused');
        }
      });

      it('of a read leads to an error, and not to a wrong state', async () => {
        const [one, market] = [await trader(), await listed()];
        const terms = termsOf(one, market, { price: 40n * CENT });
        const name = { venue_client_id: one.account.clientIdOf(terms.order_id, 1), terms };
        for (const fault of ['error', 'unreadable', 'drop_reply'] as const) {
          await subject.fault(fault, ['read']);
          await expect(one.account.order(name)).rejects.toMatchObject({ name: 'VenueUnavailable' });
        }
      });

      it('is not reported for a cancel that was rate-limited, which may be sent again', async () => {
        const [one, market] = [await trader(), await listed()];
        const terms = termsOf(one, market, { price: 40n * CENT });
        const { order } = await placed(one, terms);
        const { exchange_order_id } = order;
        const venue_client_id = one.account.clientIdOf(terms.order_id, 1);
        const name = { exchange_order_id, venue_client_id, terms };
        await subject.fault('rate_limit', ['cancel']);
        expect((await one.account.cancel(name)).outcome).toMatchObject({ what: 'not-sent' });
        expect((await one.account.cancel(name)).outcome).toMatchObject({ what: 'cancelled' });
      });

      it('does not come from cancels at the same moment: each order has an outcome of its own', async () => {
        const [one, other, market] = [await trader(), await trader(), await listed()];
        const nameOf = async (price: bigint) => {
          const terms = termsOf(one, market, { price, quantity: 4n * ONE });
          const { exchange_order_id } = (await placed(one, terms)).order;
          return { exchange_order_id, venue_client_id: one.account.clientIdOf(terms.order_id, 1), terms };
        };
        const [partly, whole, gone] = [
          await nameOf(42n * CENT),
          await nameOf(41n * CENT),
          await nameOf(40n * CENT),
        ];
        const against = { price: 58n * CENT, quantity: ONE, outcome_index: 1 } as const;
        await placed(other, termsOf(other, market, against));
        expect((await one.account.cancel(gone)).outcome.what).toBe('cancelled');
        const cancels = await Promise.all([partly, whole, gone].map((name) => one.account.cancel(name)));
        expect(cancels.map(({ outcome }) => outcome)).toMatchObject([
          { what: 'cancelled', order: { exchange_order_id: partly.exchange_order_id } },
          { what: 'cancelled', order: { exchange_order_id: whole.exchange_order_id, filled: 0n } },
          { what: 'gone' },
        ]);
        expect((await one.account.order(partly)).outcome).toMatchObject({ status: 'cancelled' });
        expect(await one.account.openOrders()).toEqual([]);
      });

      it('of a cancel is reported, and the order shows its result', async () => {
        const [one, market] = [await trader(), await listed()];
        const terms = termsOf(one, market, { price: 40n * CENT });
        const { order } = await placed(one, terms);
        await subject.fault('drop_reply', ['cancel']);
        const { exchange_order_id } = order;
        const venue_client_id = one.account.clientIdOf(terms.order_id, 1);
        const name = { exchange_order_id, venue_client_id, terms };
        expect((await one.account.cancel(name)).outcome).toMatchObject({ what: 'doubtful' });
        expect((await one.account.order(name)).outcome).toMatchObject({ status: 'cancelled' });
      });
    });

    describe('money', () => {
      it('of a resolved market is paid out and reported', async () => {
        const [one, other, market] = [await trader(), await trader(), await listed()];
        await pairOf(market, one, other, 5n * ONE);
        const before = sum(await one.account.balances());
        await subject.resolve(market.market_id, ['1', '0']);
        expect(sum(await one.account.balances()) - before).toBe(5n * ONE);
        const movements = await one.account.movements('2020-01-01T00:00:00.000000000Z');
        expect(movements.find(({ kind }) => kind === 'payout')).toMatchObject({
          ...{ market_id: market.market_id, amount: 5n * ONE, quantity: 5n * ONE },
        });
        expect(await subject.venue.markets.market(market.market_id)).toMatchObject({ status: 'resolved' });
      });

      it('goes to the vault and back, once under each reference', async () => {
        const one = await trader('100');
        const { collateral: asset } = subject;
        for (const direction of ['to_vault', 'from_vault'] as const) {
          const reference = one.account.transferReference(randomUUID());
          expect(await one.account.transferred(reference)).toBe(false);
          const input = { asset, amount: 25n * ONE, direction, reference };
          expect(await one.account.transfer(input)).toBe('done');
          await one.account.transfer(input);
          expect(await one.account.transferred(reference)).toBe(true);
          const left = direction === 'to_vault' ? 75n * ONE : 100n * ONE;
          expect(sum(await one.account.balances())).toBe(left);
          const movements = await one.account.movements('2020-01-01T00:00:00.000000000Z');
          expect(movements.filter((movement) => movement.reference === reference)).toMatchObject([
            { asset, amount: direction === 'to_vault' ? -25n * ONE : 25n * ONE },
          ]);
        }
      });

      it('is not transferred without the balance', async () => {
        const one = await trader('10');
        const reference = one.account.transferReference(randomUUID());
        const { collateral: asset } = subject;
        const input = { asset, amount: 25n * ONE, direction: 'to_vault', reference } as const;
        expect(await one.account.transfer(input)).toBe('refused');
        expect(await one.account.transferred(reference)).toBe(false);
      });
    });

    it('the feed of an account reports fills within two seconds, each at least once', async () => {
      const [one, other, market] = [await trader(), await trader(), await listed()];
      const told: string[] = [];
      const feed = one.account.follow({
        fill: ({ fill }) => told.push(fill.fill_id),
        order: () => undefined,
        reconnected: () => undefined,
      });
      try {
        const since = now();
        await pairOf(market, one, other, 5n * ONE);
        const [fill] = await one.account.fills(since);
        await eventually(() => {
          expect(told).toContain(fill?.fill.fill_id);
        }, 2_000);
      } finally {
        feed.close();
      }
    });
  });
}

function now(): string {
  return instantFromNanos(clock.epochNanos());
}

function sum({ cash }: Awaited<ReturnType<VenueAccount['balances']>>): bigint {
  return cash.reduce((total, { value }) => total + value, 0n);
}

async function submitted({ account }: Trader, terms: OrderTerms): Promise<SubmitOutcome> {
  return (await account.submit(terms, account.clientIdOf(terms.order_id, 1))).outcome;
}

async function placed(
  trader: Trader,
  terms: OrderTerms,
): Promise<Extract<SubmitOutcome, { readonly what: 'placed' }>> {
  const outcome = await submitted(trader, terms);
  if (outcome.what !== 'placed') throw new Error(`not placed: ${JSON.stringify(outcome)}`);
  return outcome;
}

/** Terms of a limit order that is good till cancelled, with changes. */
export function termsOf(
  { user_id }: { readonly user_id: string },
  market: VenueMarket,
  wanted: Partial<OrderTerms> & { readonly price: bigint },
): OrderTerms {
  const { price, quantity = 2n * ONE, outcome_index = 0 } = wanted;
  const outcome = market.outcomes[outcome_index];
  const { tick_size, bands, min_size, shard, closes_at } = market;
  return {
    ...{ order_id: randomUUID(), user_id, origin: 'sotto', venue: market.exchange_id },
    ...{ market_id: market.market_id, outcome: outcome?.outcome ?? '', outcome_index, side: 'buy' },
    ...(outcome?.token_id === undefined ? {} : { token_id: outcome.token_id }),
    ...{ kind: 'limit', time_in_force: 'GTC', post_only: false, quantity, bound: price },
    ...{ requested: { quantity, price }, max_retries: 0, collateral: 'skip', shard_funding: false },
    ...{ source: 'manual', channel: 'REST', content: '' },
    market: {
      ...(tick_size === undefined ? {} : { tick_size }),
      ...(bands === undefined ? {} : { bands }),
      ...(shard === undefined ? {} : { shard }),
      ...{ min_size, closes_at },
    },
    ...wanted,
  };
}
