import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { publicKeysIn } from '#apps/replay/public-keys.js';
import { judge } from '#apps/replay/verdict.js';
import type { AuditView } from '#libs/auction/rules/audit/audit.js';
import type { ReplayBundle } from '#libs/auction/rules/replay/bundle.js';
import { eventually } from '#libs/testing/eventually.js';
import { ServiceRecords } from '../books.js';
import {
  auctionBody,
  CONTRACT,
  mustBe,
  sharedFloor,
  type Trader,
  type TradingFloor,
  verdict,
} from '../trading-floor.js';

const AUDIT = '/v1/audit/auctions';

let floor: TradingFloor;
let books: ServiceRecords;
let auditor: Trader;
let originator: Trader;
let makers: readonly [Trader, Trader];
let id: string;

beforeAll(async () => {
  floor = await sharedFloor();
  books = new ServiceRecords(floor.cluster);
  auditor = await floor.trader('auditor-1');
  [originator, ...makers] = await floor.newTraders('originator', 'maker', 'maker');
  const body = auctionBody(floor.contract('venue_d', 6), makers, {
    duration_ms: 1_000,
    quote_revision_policy: 'IMPROVE_ONLY',
    result_disclosure: 'WINNING_PRICE_AND_RANK',
  });
  ({ auction_id: id } = await originator.opens(body));
  const first = await makers[0].quotes(id, 500_000, 10);
  mustBe(200, await makers[0].revise(first, { price_atoms: 480_000 }));
  await makers[1].quotes(id, 490_000, 10);
  await makers[1].submit(id, { price_atoms: 1, quantity_atoms: CONTRACT });
  await originator.until(id, 'SETTLED');
  await eventually(async () => mustBe(200, await auditor.api.get(`${AUDIT}/${id}`)));
}, 90_000);

afterAll(async () => {
  floor.close();
  await books.close();
});

it('the audit paths do not exist for anyone but auditors', async () => {
  const asked = [AUDIT, `${AUDIT}/${id}`, `${AUDIT}/${id}/bundle`];
  for (const { api } of [originator, makers[0], await floor.trader('operator-1')])
    for (const path of asked) expect(verdict(await api.get(path))).toBe('404 not_found');
  expect(verdict(await floor.anybody.get(AUDIT))).toBe('401 unauthorized');
});

describe('a completed auction', () => {
  it('shows every event and ranks every quote, without any names', async () => {
    const answer = await auditor.api.get<AuditView>(`${AUDIT}/${id}`, { 'x-request-id': `audit-${id}` });
    const seen = mustBe(200, answer);
    expect(seen.ranking.map(({ price_atoms: price, reason }) => [price, reason])).toEqual([
      [480_000, 'AWARDED'],
      [490_000, 'OUTRANKED'],
    ]);
    expect(seen.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['AUCTION_OPENED', 'QUOTE_REVISED', 'QUOTE_REJECTED', 'AUCTION_COMPLETED']),
    );
    for (const { accountId, name } of [originator, ...makers])
      for (const secret of [accountId, name]) expect(answer.text).not.toContain(secret);
    const reads = await books.rows(
      'select what, status, auction_ids from audit.reads where request_id = $1',
      [`audit-${id}`],
    );
    expect(reads).toEqual([{ what: 'AUCTION', status: 200, auction_ids: [id] }]);
  });

  it('is in the list of completed auctions', async () => {
    const page = await auditor.api.get<{ auctions: { auction_id: string }[] }>(`${AUDIT}?limit=50`);
    expect(mustBe(200, page).auctions.length).toBeGreaterThan(0);
  });

  it('gives a bundle that reproduces the outcome and has a known seal', async () => {
    const bundle = mustBe(200, await auditor.api.get<ReplayBundle>(`${AUDIT}/${id}/bundle`));
    const keys = publicKeysIn((await floor.anybody.get('/.well-known/audit-keys.json')).text);
    expect(judge(bundle, keys)).toMatchObject({
      ...{ ok: true, origin: 'VERIFIED', alterations: [], contradictions: [] },
    });
  });
});
