import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { describeVenue, termsOf, type VenueSubject } from '#libs/testing/contracts/venue.contract.js';
import { openSigner } from '#libs/testing/execution/open-signer.js';
import { eventually } from '#libs/testing/eventually.js';
import { openPracticeE, type PracticeE } from '#libs/testing/practice-e.js';
import { VAULT_USER, type Signer } from '../../protocol/signer-protocol.js';
import type { VenueMarket } from '../../rules/markets.js';
import { ONE } from '../../rules/micros.js';
import type { VenueAccount } from '../port.js';
import { VenueE } from './venue-e.js';

const OF_E = { exchange_id: 'venue_e' };

async function openSubject(): Promise<VenueSubject> {
  const [practice, { signer, close }] = await Promise.all([openPracticeE(), openSigner()]);
  const venue = new VenueE({ settings: { url: practice.url }, signer, clock: new SystemClock() });
  const vault = await venue.open(VAULT_USER);
  const call = async (at: string, body: object): Promise<void> => {
    await practice.call('POST', at, body);
  };
  return {
    ...{ venue, vault, collateral: 'USDC' },
    fund: (account, amount) => call('/faucet', { ...OF_E, account, amount }),
    market: async () => String(await practice.market()),
    setStatus: (id, status) => call(`/markets/venue_e/${id}/status`, { status }),
    resolve: (id, payouts) => call(`/markets/venue_e/${id}/resolve`, { payouts }),
    fault: (fault, calls) => call('/faults', { ...OF_E, fault, ...(calls.length === 0 ? {} : { calls }) }),
    close: async () => {
      venue.close();
      await practice.close();
      await close();
    },
  };
}

describeVenue('venue e through its adapter', openSubject);

describe('venue e', () => {
  let [practice, opened]: [PracticeE?, Awaited<ReturnType<typeof openSigner>>?] = [];
  let [signer, venue]: [Signer?, VenueE?] = [];
  let vault = '';

  beforeAll(async () => {
    [practice, opened] = await Promise.all([openPracticeE(), openSigner()]);
    signer = opened.signer;
    venue = new VenueE({ settings: { url: practice.url }, signer, clock: new SystemClock() });
    vault = await venue.open(VAULT_USER);
  });
  afterAll(async () => {
    venue?.close();
    await practice?.close();
    await opened?.close();
  });

  function at(): { readonly venue: VenueE; readonly practice: PracticeE } {
    if (venue === undefined || practice === undefined) throw new Error('not opened');
    return { venue, practice };
  }

  async function trader(): Promise<{
    readonly user_id: string;
    readonly address: string;
    readonly account: VenueAccount;
  }> {
    const user_id = randomUUID();
    const address = await at().venue.open(user_id);
    await at().practice.call('POST', '/faucet', { ...OF_E, account: address, amount: '100' });
    return { user_id, address, account: at().venue.account(user_id, address) };
  }

  async function listed(more: object = {}): Promise<VenueMarket> {
    const market = await at().venue.markets.market(String(await at().practice.market(more)));
    if (market === undefined) throw new Error('not listed');
    return market;
  }

  async function submit(
    one: Awaited<ReturnType<typeof trader>>,
    terms: ReturnType<typeof termsOf>,
  ): Promise<Awaited<ReturnType<VenueAccount['submit']>>['outcome']> {
    return (await one.account.submit(terms, one.account.clientIdOf(terms.order_id, 1))).outcome;
  }

  it('markets are named by outcome and their two sides by token', async () => {
    const market = await listed({ title: 'Rain' });
    const id = Number(market.market_id);
    expect(market).toMatchObject({
      ...{ exchange_id: 'venue_e', title: 'Rain', status: 'open', tick_size: 100n, min_size: ONE },
      outcomes: [
        { index: 0, outcome: 'YES', token_id: `#${id * 10}` },
        { index: 1, outcome: 'NO', token_id: `#${id * 10 + 1}` },
      ],
    });
    expect(await at().venue.markets.market(`#${id * 10 + 1}`)).toEqual(market);
    for (const unknown of ['999999', '#52', 'x', '#9999990']) {
      expect(await at().venue.markets.market(unknown)).toBeUndefined();
    }
    const ungridded = await listed({ grid: false });
    expect([ungridded.tick_size, ungridded.bands]).toEqual([undefined, undefined]);
    const [first] = await at().venue.markets.list(undefined, 1);
    expect(first).toMatchObject({ market_id: '5', contract_id: 'e-unemployment-above-5' });
    const [next] = await at().venue.markets.list('5', 1);
    expect(next?.market_id).toBe('6');
  });

  it('a submit after its not_after time is refused with COMMAND_EXPIRED', async () => {
    const [one, market] = [await trader(), await listed()];
    const late = termsOf(one, market, { price: 400_000n, not_after: '2026-01-01T00:00:00.000000000Z' });
    expect(await submit(one, late)).toMatchObject({
      ...{ what: 'not-sent', failure: { code: 'COMMAND_EXPIRED' } },
    });
    expect(await one.account.openOrders()).toEqual([]);
  });

  it('quantities are cut to whole shares, and a FOK order may fill in part', async () => {
    const [one, other, market] = [await trader(), await trader(), await listed()];
    await submit(one, termsOf(one, market, { price: 600_000n, quantity: 3_900_000n }));
    expect(await one.account.openOrders()).toMatchObject([{ quantity: 3n * ONE }]);
    const fok = termsOf(other, market, {
      ...{ price: 450_000n, quantity: 5n * ONE, outcome_index: 1, time_in_force: 'FOK' },
    });
    expect(await submit(other, fok)).toMatchObject({
      ...{ what: 'placed', order: { status: 'cancelled', filled: 3n * ONE } },
    });
  });

  it('an order of an unlinked user is not sent', async () => {
    const [one, market] = [await trader(), await listed()];
    const stranger = at().venue.account(randomUUID(), one.address);
    const terms = termsOf(one, market, { price: 400_000n });
    const { outcome, call } = await stranger.submit(terms, stranger.clientIdOf(terms.order_id, 1));
    expect(outcome).toMatchObject({ what: 'not-sent', failure: { code: 'EXCHANGE_NOT_LINKED' } });
    expect(call).not.toHaveProperty('http_status');
    expect(await one.account.openOrders()).toEqual([]);
  });

  it('keys supplied by a user are refused', async () => {
    const credentials = { key_id: 'k', private_key_pem: 'p' };
    await expect(at().venue.open(randomUUID(), credentials)).rejects.toThrow('not brought');
  });

  it('shares move to the vault and back', async () => {
    const [one, other, market] = [await trader(), await trader(), await listed()];
    await submit(one, termsOf(one, market, { price: 600_000n, quantity: 5n * ONE }));
    await submit(other, termsOf(other, market, { price: 400_000n, quantity: 5n * ONE, outcome_index: 1 }));
    const asset = market.outcomes[0]?.token_id ?? '';
    for (const [direction, left] of [
      ['to_vault', 3n * ONE],
      ['from_vault', 5n * ONE],
    ] as const) {
      const reference = one.account.transferReference(randomUUID());
      expect(await one.account.transfer({ asset, amount: 2n * ONE, direction, reference })).toBe('done');
      expect(await one.account.transferred(reference)).toBe(true);
      expect((await one.account.balances()).tokens).toMatchObject([{ token_id: asset, quantity: left }]);
    }
  });

  it('a transfer from a stranger is never taken for one of ours', async () => {
    const [one, stranger] = [await trader(), await at().practice.account()];
    await stranger.owner.spotSend({
      ...{ destination: one.address, token: 'USDC:0x6d1e', amount: '1' },
    });
    const [, received] = await one.account.movements('2020-01-01T00:00:00.000000000Z');
    expect(received).toMatchObject({ kind: 'transfer-in', amount: ONE });
    expect(received?.reference).toMatch(/^0x/);
    expect(vault).not.toBe(one.address);
  });

  it('followers of an account hear of orders that the venue ended, and of the return of the venue', async () => {
    const [one, market] = [await trader(), await listed()];
    const orders: string[] = [];
    let returns = 0;
    const feed = one.account.follow({
      fill: () => undefined,
      order: ({ status, ended_by }) => orders.push(`${status} ${ended_by ?? ''}`),
      reconnected: () => (returns += 1),
    });
    try {
      await submit(one, termsOf(one, market, { price: 400_000n }));
      await eventually(() => {
        expect(orders).toEqual(['resting ']);
      });
      await at().practice.call('POST', `/markets/venue_e/${market.market_id}/status`, { status: 'closed' });
      await eventually(() => {
        expect(orders.at(-1)).toBe('cancelled market-closed');
      });
      await at().practice.call('POST', '/faults', { ...OF_E, fault: 'error', calls: ['read'], count: 2 });
      await eventually(() => {
        expect(returns).toBeGreaterThan(0);
      });
    } finally {
      feed.close();
    }
  });
});
