import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer } from '#libs/client/api-client.js';
import type { ClusterContract } from '#libs/testing/cluster/cluster-file.js';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import { ServiceRecords } from '../books.js';
import {
  auctionBody,
  CONTRACT,
  kinds,
  mustBe,
  only,
  sharedFloor,
  type Trader,
  type TradingFloor,
  verdict,
} from '../trading-floor.js';

/** No other spec uses the contract that is halted and closed here. */
const VENUE = 'venue_b';

// Most of the time is spent waiting until three owners know a change.
jest.setTimeout(20_000);

let floor: TradingFloor;
let books: ServiceRecords;
let originator: Trader;
let maker: Trader;
let contract: ClusterContract;
/** Undone after each test, the last change first. */
let undo: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  floor = await sharedFloor();
  books = new ServiceRecords(floor.cluster);
  [originator, maker] = await floor.newTraders('originator', 'maker');
  contract = floor.contract(VENUE, 3);
}, 60_000);

afterEach(async () => {
  for (const step of undo.reverse()) await step();
  undo = [];
});

afterAll(async () => {
  floor.close();
  await books.close();
});

function body(differing: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return auctionBody(contract, [maker], { duration_ms: 30_000, ...differing });
}

/** An auction that is cancelled after the test. Owners learn late that an earlier test undid its changes. */
async function opens(differing: Readonly<Record<string, unknown>> = {}): Promise<AuctionJson> {
  const opened = await eventually(() => originator.opens(body(differing)));
  undo.push(() => originator.cancel(opened.auction_id));
  return opened;
}

/** Changes data of another authority for this test only. */
async function decree(
  statement: string,
  values: unknown[],
  undoing: string,
  undoValues: unknown[],
): Promise<void> {
  undo.push(() => books.rows(undoing, undoValues));
  await books.rows(statement, values);
}

/** A created auction is cancelled at once. */
async function create(): Promise<ApiAnswer<AuctionJson>> {
  const answer = await originator.create(body());
  if (answer.status === 201) await originator.cancel(answer.body.auction_id);
  return answer;
}

/** An accepted quote is withdrawn at once. */
async function attempt(id: string): Promise<ApiAnswer<QuoteJson>> {
  const answer = await quote(id);
  if (answer.status === 201) await maker.withdraw(answer.body);
  return answer;
}

function quote(id: string): Promise<ApiAnswer<QuoteJson>> {
  return maker.submit(id, { price_atoms: 500_000, quantity_atoms: CONTRACT });
}

/** A quote that must be accepted once its owner knows that it may. */
function standingQuote(id: string): Promise<QuoteJson> {
  return eventually(async () => mustBe(201, await quote(id)));
}

/** Policy changes arrive with a short delay. Each try has a new key, because a rejection is stored under its key. */
async function untilVerdict(expected: string, act: () => Promise<ApiAnswer<unknown>>): Promise<void> {
  await eventually(async () => expect(verdict(await act())).toBe(expected), 5_000);
}

describe('a suspended account', () => {
  it('may neither quote nor create, but still withdraw and cancel', async () => {
    const { auction_id: id } = await opens();
    const standing = await standingQuote(id);
    const other = await opens();
    const suspend = 'update control.accounts_policy set suspended = $2 where account_id = any($1)';
    const accounts = [maker.accountId, originator.accountId];
    await decree(suspend, [accounts, true], suspend, [accounts, false]);
    await untilVerdict('422 PRINCIPAL_SUSPENDED', () => attempt(other.auction_id));
    await untilVerdict('422 PRINCIPAL_SUSPENDED', () => maker.preflightQuote(id, 500_000, CONTRACT));
    await untilVerdict('422 PRINCIPAL_SUSPENDED', create);
    expect((await maker.withdraw(standing)).body.status).toBe('WITHDRAWN');
    expect((await originator.cancel(id)).body.status).toBe('CANCELLED');
  });
});

describe('an account', () => {
  it('needs an entitlement for every venue, and may not exceed its largest size', async () => {
    const { auction_id: id } = await opens();
    const entitle = 'update control.accounts_policy set venues = $2 where account_id = $1';
    const [policy] = await books.rows<{ venues: string[]; most: string }>(
      'select venues, max_quantity_atoms::text as most from control.accounts_policy where account_id = $1',
      [maker.accountId],
    );
    await decree(entitle, [maker.accountId, ['venue_a']], entitle, [maker.accountId, policy!.venues]);
    await untilVerdict('422 PRINCIPAL_NOT_ENTITLED', () => attempt(id));
    const me = await maker.api.get<{ entitled_venues: string[] }>('/v1/me');
    expect(me.body.entitled_venues).toEqual(['venue_a']);
    await books.rows(entitle, [maker.accountId, policy!.venues]);
    const limit = 'update control.accounts_policy set max_quantity_atoms = $2 where account_id = $1';
    await decree(limit, [maker.accountId, CONTRACT - 1], limit, [maker.accountId, policy!.most]);
    await untilVerdict('422 UNAUTHORIZED_SIZE', () => attempt(id));
  });
});

describe('a halt', () => {
  const cases: [string, () => string | null, string][] = [
    ['MARKET', () => contract.contract_id, 'MARKET_NOT_TRADABLE'],
    ['PRINCIPAL', () => maker.accountId, 'PRINCIPAL_SUSPENDED'],
  ];
  it.each(cases)(
    'of scope %s stops quotes and creates, voids nothing, and ends when it is lifted',
    async (scope, target, code) => {
      const { auction_id: id } = await opens();
      const standing = await standingQuote(id);
      const haltId = randomUUID();
      await decree(
        `insert into control.halts (halt_id, scope, target, what, reason, created_by, created_at)
       values ($1, $2, $3, array['CREATE', 'QUOTE'], 'test', 'test', now())`,
        [haltId, scope, target()],
        'delete from control.halts where halt_id = $1',
        [haltId],
      );
      const revise = async (price: number): Promise<ApiAnswer<QuoteJson>> => {
        const [latest] = await maker.myQuotes(id);
        return maker.revise(latest!, { price_atoms: price });
      };
      await untilVerdict(`422 ${code}`, () => revise(490_000));
      await untilVerdict(scope === 'PRINCIPAL' ? '201' : `422 ${code}`, create);
      expect((await originator.view(id)).status).toBe('OPEN');
      await books.rows('update control.halts set lifted_at = now(), lifted_by = $2 where halt_id = $1', [
        haltId,
        'test',
      ]);
      await untilVerdict('200', () => revise(470_000));
      expect((await maker.withdraw(standing)).body.status).toBe('WITHDRAWN');
    },
  );
});

describe('a market', () => {
  const change = `update control.contracts set status = $2, closes_at = $3
    where (venue, contract_id) = ('${VENUE}', $1)`;
  async function market(status: string, closesAt: string): Promise<void> {
    const [was] = await books.rows<{ closes_at: Date }>(
      `select closes_at from control.contracts where (venue, contract_id) = ('${VENUE}', $1)`,
      [contract.contract_id],
    );
    const usual = [contract.contract_id, 'TRADING', was!.closes_at];
    await decree(change, [contract.contract_id, status, closesAt], change, usual);
  }
  const later = '2099-01-01T00:00:00Z';

  it('that pauses refuses quotes and creates, and voids nothing', async () => {
    const { auction_id: id } = await opens();
    await market('PAUSED', later);
    await untilVerdict('422 MARKET_NOT_TRADABLE', () => attempt(id));
    await untilVerdict('422 MARKET_NOT_TRADABLE', create);
    expect((await originator.view(id)).status).toBe('OPEN');
  });

  it('that closes before the auction is not a valid route', async () => {
    await market('TRADING', new Date(Date.now() + 10_000).toISOString());
    await untilVerdict('422 MARKET_CLOSES_BEFORE_AUCTION', create);
  });

  it('that stops trading for good voids its auctions and releases every quote', async () => {
    const { auction_id: id } = await eventually(() => originator.opens(body()));
    const standing = await standingQuote(id);
    await market('CLOSED', later);
    const view = await originator.until(id, 'VOIDED');
    expect(view.phase).toBe('COMPLETED');
    expect(view.cancellation).toMatchObject({ cancelled_by: 'SYSTEM' });
    expect((await maker.myQuotes(id)).map(({ quote_id, status }) => [quote_id, status])).toEqual([
      [standing.quote_id, 'RELEASED'],
    ]);
    expect(kinds(await originator.timeline(id))).toEqual([
      'AUCTION_OPENED',
      'AUCTION_VOIDED',
      'AUCTION_COMPLETED',
    ]);
    const voided = only(await maker.timeline(id), 'AUCTION_VOIDED');
    expect([voided.actor, voided.data]).toEqual(['SYSTEM', {}]);
    await eventually(async () => expect(await books.reserved(maker.accountId)).toEqual({}));
  });
});

describe('risk evidence', () => {
  const where = 'account_id = $1 and (venue = $2 or venue = $3)';
  const scope = (): unknown[] => [maker.accountId, VENUE, ''];

  it.each([
    ['risk_valid_until', 'RISK_EVIDENCE_STALE'],
    ['authority_valid_until', 'AUTHORITY_EVIDENCE_STALE'],
  ])('whose %s has passed refuses with %s', async (column, code) => {
    const { auction_id: id } = await opens();
    const vouch = `update risk.evidence set ${column} = now() + $4::interval where ${where}`;
    undo.push(() => books.rows(vouch, [...scope(), '90 seconds']));
    // The ledger's worker may renew the evidence in between, so the change is repeated until it was seen.
    await eventually(async () => {
      await books.rows(vouch, [...scope(), '-1 second']);
      expect(verdict(await quote(id))).toBe(`422 ${code}`);
      expect(verdict(await maker.preflightQuote(id, 500_000, CONTRACT))).toBe(`422 ${code}`);
    }, 5_000);
  });

  it('that contradicts itself gives 500 to a preflight, and no quote is accepted', async () => {
    const { auction_id: id } = await opens();
    const [was] = await books.rows<{ amount: string }>(
      `select amount::text from risk.evidence where ${where} and resource = 'COLLATERAL'`,
      scope(),
    );
    const state = `update risk.evidence set amount = $4 where ${where} and resource = 'COLLATERAL'`;
    undo.push(() => books.rows(state, [...scope(), was!.amount]));
    // The ledger's worker may renew the evidence at any moment.
    await eventually(async () => {
      await books.rows(state, [...scope(), -1]);
      const preflight = await maker.preflightQuote(id, 500_000, CONTRACT);
      expect([verdict(preflight), preflight.body]).toEqual([
        '500 internal_error',
        { error: 'internal_error' },
      ]);
      expect(verdict(await quote(id))).toBe('500 internal_error');
    });
    expect(await maker.myQuotes(id)).toEqual([]);
  });

  it.each([
    ['VENUE_POSITION_LIMIT', 'VENUE_LIMIT_EXCEEDED'],
    ['SERVICE_EXPOSURE_LIMIT', 'SERVICE_CAPACITY_EXCEEDED'],
  ])('of a %s that is used up refuses with %s', async (resource, code) => {
    const { auction_id: id } = await opens();
    const [was] = await books.rows<{ amount: string }>(
      `select amount::text from risk.evidence where ${where} and resource = $4`,
      [...scope(), resource],
    );
    const limit = `update risk.evidence set amount = $5 where ${where} and resource = $4`;
    undo.push(() => books.rows(limit, [...scope(), resource, was!.amount]));
    await untilVerdict(`422 ${code}`, async () => {
      await books.rows(limit, [...scope(), resource, 10]);
      return await attempt(id);
    });
    const found = mustBe(200, await maker.preflightQuote(id, 500_000, CONTRACT));
    expect([found.status, found.routes[0]!.resource_type]).toEqual(['INSUFFICIENT_CAPACITY', resource]);
  });
});

describe('market maker protection', () => {
  const settings = {
    window_ms: 60_000,
    max_awards: 1,
    max_award_notional_atoms: 1_000_000_000_000,
    frozen_ms: 60_000,
  };

  it('withdraws active quotes and freezes the maker until it resets', async () => {
    const protected_ = await floor.newTrader('maker');
    const audience = { market_maker_ids: [protected_.accountId] };
    const won = await eventually(() => originator.opens(body({ audience, duration_ms: 1_200 })));
    const free = await opens({ audience });
    const firm = await opens({ audience, quote_revision_policy: 'FINAL' });
    expect((await protected_.api.send('PUT', '/v1/me/protection', { body: settings })).status).toBe(200);
    expect((await protected_.api.get('/v1/me/protection')).body).toEqual(settings);
    for (const { auction_id: id } of [won, free, firm]) await protected_.quotes(id, 500_000, 10);
    await eventually(async () => {
      const [quoted] = await protected_.myQuotes(free.auction_id);
      expect([quoted!.status, quoted!.withdrawn_by]).toEqual(['WITHDRAWN', 'PROTECTION']);
    });
    const gone = only(await protected_.timeline(free.auction_id), 'QUOTE_WITHDRAWN');
    expect(gone.actor).toBe('SYSTEM');
    expect((await protected_.myQuotes(firm.auction_id)).map(({ status }) => status)).toEqual(['ACTIVE']);
    const again = (): Promise<ApiAnswer<QuoteJson>> =>
      protected_.submit(free.auction_id, { price_atoms: 500_000, quantity_atoms: CONTRACT });
    await eventually(async () => expect(verdict(await again())).toBe('422 MMP_FROZEN'));
    expect((await protected_.api.post('/v1/me/protection/reset', undefined, null)).status).toBe(200);
    await eventually(async () => expect(verdict(await again())).toBe('201'));
    await originator.until(won.auction_id, 'SETTLED');
  }, 20_000);
});
