import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { orderUuid, termsOf } from '#libs/testing/execution/cell-journal.js';
import { HeldKeys } from '#libs/testing/execution/held-keys.js';
import { ScriptedCell } from '#libs/testing/execution/scripted-cell.js';
import { openPracticeB, type BClient, type PracticeB } from '#libs/testing/practice-b.js';
import { fromWire } from '../protocol/wire.js';
import type { OrderTerms } from '../rules/order.js';
import { openVenues } from '../venues/registry.js';
import { Executor } from './executor.js';

const clock = new SystemClock();

let practice: PracticeB;
let cell: ScriptedCell;
let executor: Executor;
let ring: HeldKeys;

beforeAll(async () => {
  practice = await openPracticeB();
});
afterAll(() => practice.close());

beforeEach(async () => {
  cell = await ScriptedCell.open();
  ring = new HeldKeys();
  const base = `http://127.0.0.1:${practice.open.port}`;
  const venues = openVenues(
    {
      ...{ VENUES: ['b'], VENUE_B_URL: `${base}/trade-api/v2`, VENUE_B_WS_URL: undefined },
      VENUE_B_ACCOUNTS_URL: `http://127.0.0.1:${practice.admin.port}`,
      VENUE_E_URL: undefined,
    },
    { clock, signer: ring },
  );
  executor = new Executor({
    ...{ links: [cell.link], venues, signer: ring, clock, name: 'executor-0:test', concurrency: 8 },
    meter: { called: () => undefined },
    onFault: () => undefined,
  });
  executor.start();
});

afterEach(async () => {
  await executor.stop();
  cell.close();
});

async function trader(dollars?: string): Promise<{ user: string; client: BClient }> {
  const user = randomUUID();
  const client = await practice.account(dollars);
  await ring.storeKey(user, client.keys);
  return { user, client };
}

function submission(user: string, market: string, more: Partial<OrderTerms> = {}): OrderTerms {
  return termsOf({ order_id: orderUuid(randomUUID()), user_id: user, market_id: market, ...more });
}

function give(terms: OrderTerms, account?: string): ReturnType<ScriptedCell['give']> {
  const { user_id, venue } = terms;
  const task = { kind: 'submit', user_id, venue, terms, attempt: 1 } as const;
  return cell.give(account === undefined ? task : { ...task, account });
}

async function ordersIn(market: string): Promise<unknown> {
  const { body } = await practice.call('GET', `/markets/venue_b/${market}`);
  return (body as { readonly orders: unknown }).orders;
}

describe('requests from gateways', () => {
  it('linking a venue opens an account, and linking again changes nothing', async () => {
    const user = randomUUID();
    const link = { op: 'link_venue', request_id: 'r', user_id: user, venue: 'venue_b' } as const;
    expect(await executor.link.handle(link)).toMatchObject({ status: 200 });
    expect(await executor.link.handle(link)).toMatchObject({ status: 200 });
    const [first, second] = cell.all('link_account');
    expect(first).toMatchObject({ user_id: user, venue: 'venue_b' });
    expect(second?.account).toBe(first?.account);
    const balances = { op: 'account_balances', request_id: 'r', user_id: user, venue: 'venue_b' } as const;
    const { status, body } = await executor.link.handle(balances);
    expect([status, fromWire(body)]).toMatchObject([200, { cash: [{ asset: 'USD' }, { asset: 'USD' }] }]);
  });

  it('credentials that the venue refuses are refused, and the stored ones stay', async () => {
    const { user, client } = await trader();
    const other = await practice.account('0');
    const link = { op: 'link_venue', request_id: 'r', user_id: user, venue: 'venue_b' } as const;
    for (const private_key_pem of [other.keys.private_key_pem, 'no key']) {
      const credentials = { key_id: client.keys.key_id, private_key_pem };
      expect((await executor.link.handle({ ...link, credentials })).status).toBe(400);
    }
    expect(cell.all('link_account')).toEqual([]);
    expect((await give(submission(user, await practice.market()))).report).toMatchObject({ what: 'placed' });
    const { key_id, private_key_pem } = other.keys;
    const { status } = await executor.link.handle({ ...link, credentials: { key_id, private_key_pem } });
    expect(status).toBe(200);
  });

  it('credentials whose link the cell refuses are not stored', async () => {
    const { user } = await trader();
    const { key_id, private_key_pem } = (await practice.account('0')).keys;
    const link = { op: 'link_venue', request_id: 'r', user_id: user, venue: 'venue_b' } as const;
    const before = await ring.accountOf(user);
    for (const [status, expected] of [
      [400, 400],
      [503, 503],
    ] as const) {
      cell.linkStatus = status;
      const reply = await executor.link.handle({ ...link, credentials: { key_id, private_key_pem } });
      expect([reply.status, await ring.accountOf(user)]).toEqual([expected, before]);
    }
  });

  it('nothing is sent with the key of another account than the linked one', async () => {
    const [{ user, client }, market] = [await trader(), await practice.market()];
    const terms = submission(user, market);
    const { report } = await give(terms, 'another');
    expect(report).toMatchObject({ what: 'not-sent', failure: { code: 'EXCHANGE_NOT_LINKED' } });
    expect(await ordersIn(market)).toEqual([]);
    expect((await give(terms, client.account)).report).toMatchObject({ what: 'placed' });
  });

  it('a user without a key is not linked', async () => {
    const user_id = randomUUID();
    const balances = { op: 'account_balances', request_id: 'r', user_id, venue: 'venue_b' } as const;
    expect((await executor.link.handle(balances)).status).toBe(409);
  });
});
