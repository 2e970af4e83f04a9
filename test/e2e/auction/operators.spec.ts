import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { ServiceRecords } from '../books.js';
import type { Action, HaltJson, ShardRowJson } from '../operator-floor.js';
import {
  auctionBody,
  kinds,
  mustBe,
  only,
  sharedFloor,
  type Trader,
  type TradingFloor,
  verdict,
} from '../trading-floor.js';

type Fields = Readonly<Record<string, unknown>>;

let floor: TradingFloor;
let books: ServiceRecords;
let operator: Trader;
let originator: Trader;
let maker: Trader;

beforeAll(async () => {
  floor = await sharedFloor();
  books = new ServiceRecords(floor.cluster);
  operator = await floor.trader('operator-1');
  [originator, maker] = await floor.newTraders('originator', 'maker');
}, 90_000);

afterAll(async () => {
  floor.close();
  await books.close();
});

const body = (): Fields => auctionBody(floor.contract('venue_d', 5), [maker]);

describe('for anyone but operators', () => {
  it('the paths do not exist: the bytes are those of an unknown path', async () => {
    for (const { api } of [originator, maker, await floor.trader('auditor-1')]) {
      for (const asked of ['shards', 'halts', 'actions', 'limits']) {
        const [hidden, never] = [await api.get(`/v1/ops/${asked}`), await api.get('/v1/never/was')];
        expect([hidden.status, hidden.text]).toEqual([404, never.text]);
      }
    }
  });
});

describe('operators', () => {
  it("see the shards, the limits, an account's limits, and the recorded actions", async () => {
    const get = async <Body>(path: string): Promise<Body> =>
      mustBe(200, await operator.api.get<Body>(`/v1/ops/${path}`));
    const { shards } = await get<{ shards: ShardRowJson[] }>('shards');
    expect(shards.map(({ shard, state }) => [shard, state])).toEqual([0, 1, 2].map((at) => [at, 'ACTIVE']));
    expect((await get<{ buckets: Fields[] }>('limits')).buckets[0]).toMatchObject({ bucket: 'create' });
    const account = await get<Fields>(`accounts/${maker.accountId}/limits`);
    expect(account).toMatchObject({ account_id: maker.accountId, may_quote: true, suspended: false });
    await get<{ actions: Action[] }>('actions?limit=5');
  });

  it.each([
    ['MARKET', () => floor.contract('venue_d', 5).contract_id, 'MARKET_NOT_TRADABLE'],
    ['PRINCIPAL', () => originator.accountId, 'PRINCIPAL_SUSPENDED'],
  ])('halt by %s and lift it again, both recorded', async (scope, target, code) => {
    const asked = { scope, target: target(), what: ['CREATE', 'QUOTE'], reason: 'drill' };
    const halt = mustBe(201, await operator.api.post<HaltJson>('/v1/ops/halts', asked, null));
    const again = await operator.api.post<HaltJson>('/v1/ops/halts', asked, null);
    expect([again.status, again.body]).toEqual([200, halt]);
    expect(verdict(await originator.create(body()))).toBe(`422 ${code}`);
    const { halts } = mustBe(200, await operator.api.get<{ halts: HaltJson[] }>('/v1/ops/halts'));
    expect(halts).toContainEqual({ ...halt, display_name: 'Operator 1' });
    mustBe(204, await operator.api.send('DELETE', `/v1/ops/halts/${halt.halt_id}`));
    const { auction_id: id } = await originator.opens(body());
    mustBe(200, await originator.cancel(id));
    const { actions } = mustBe(200, await operator.api.get<{ actions: Action[] }>('/v1/ops/actions'));
    const done = actions.filter((action) => action.target === halt.halt_id).map(({ action }) => action);
    expect(done).toEqual(['LIFT_HALT', 'IMPOSE_HALT']);
  });

  it('void an auction for all parties, without showing which operator did it', async () => {
    const { auction_id: id } = await originator.opens(body());
    await maker.quotes(id, 400_000, 10);
    const orders = `/v1/ops/auctions/${id}/void`;
    expect(mustBe(200, await operator.api.post(orders, { reason: 'wrong contract' }, null))).toEqual({
      auction_id: id,
      status: 'VOIDED',
    });
    await eventually(async () => expect(await books.reserved(maker.accountId)).toEqual({}));
    for (const party of [originator, maker]) {
      const [view, timeline] = [await party.view(id), await party.timeline(id)];
      expect([view.status, view.phase]).toEqual(['VOIDED', 'COMPLETED']);
      expect(kinds(timeline).slice(-2)).toEqual(['AUCTION_VOIDED', 'AUCTION_COMPLETED']);
      expect(only(timeline, 'AUCTION_VOIDED').actor).toBe('OPERATOR');
      expect(JSON.stringify([view, timeline])).not.toContain(operator.accountId);
    }
    const { auction_id: over } = await originator.opens(body());
    await originator.cancel(over);
    const late = await operator.api.post(`/v1/ops/auctions/${over}/void`, { reason: 'late' }, null);
    expect(verdict(late)).toBe('422 AUCTION_NOT_OPEN');
    const never = `/v1/ops/auctions/${id.slice(0, -4)}0000/void`;
    expect(verdict(await operator.api.post(never, { reason: 'drill' }, null))).toBe('404 auction_not_found');
  });
});
