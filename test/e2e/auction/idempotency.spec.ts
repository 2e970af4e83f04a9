import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer } from '#libs/client/api-client.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import {
  auctionBody,
  CONTRACT,
  kinds,
  mustBe,
  sharedFloor,
  type Trader,
  type TradingFloor,
  verdict,
} from '../trading-floor.js';

type Fields = Readonly<Record<string, unknown>>;

const KEY_REQUIRED = '400 idempotency_key_required';
const KEY_MISMATCH = '400 idempotency_key_mismatch';
const CONFLICT = '409 idempotency_key_conflict';
const AT_ONCE = 50;

let floor: TradingFloor;
let originator: Trader;
let maker: Trader;

function body(differing: Fields = {}): Fields {
  return auctionBody(floor.contract('venue_d', 1), [maker], { duration_ms: 30_000, ...differing });
}

function quoteTerms(price = 500_000): Fields {
  return { price_atoms: price, quantity_atoms: CONTRACT };
}

/** How often each status came, and the different bodies. */
function summary(answers: readonly ApiAnswer<unknown>[]): {
  statuses: Record<number, number>;
  bodies: number;
} {
  const statuses: Record<number, number> = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  return { statuses, bodies: new Set(answers.map(({ text }) => text)).size };
}

function times<T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => act(index)));
}

beforeAll(async () => {
  floor = await sharedFloor();
  [originator, maker] = await floor.newTraders('originator', 'maker');
}, 60_000);

afterAll(() => {
  floor.close();
});

describe('a create', () => {
  it('called 50 times at once with one key happens once', async () => {
    const before = await originator.api.get<{ auctions: AuctionJson[] }>('/v1/auctions');
    const key = randomUUID();
    const answers = await times(AT_ONCE, () => originator.create(body(), key));
    expect(summary(answers)).toEqual({ statuses: { 201: 1, 200: AT_ONCE - 1 }, bodies: 1 });
    const after = await originator.api.get<{ auctions: AuctionJson[] }>('/v1/auctions');
    expect(after.body.auctions.length - before.body.auctions.length).toBe(1);
    await originator.cancel(answers[0]!.body.auction_id);
  });

  it('gives its first answer again, whatever has happened to the auction since', async () => {
    const key = randomUUID();
    const first = await originator.create(body({ duration_ms: 1_000 }), key);
    const id = first.body.auction_id;
    const quoteKey = randomUUID();
    const quoted = await maker.submit(id, quoteTerms(), quoteKey);
    expect([first.status, quoted.status]).toEqual([201, 201]);
    await originator.until(id, 'NO_AWARD');
    await originator.untilCompletedRead(id);
    const replays = [
      await originator.create(body({ duration_ms: 1_000 }), key),
      await maker.submit(id, quoteTerms(), quoteKey),
    ];
    expect(replays.map(({ status, text }) => [status, text])).toEqual([
      [200, first.text],
      [200, quoted.text],
    ]);
    // The same key with other content is still refused, and a new key finds the auction over.
    expect(verdict(await originator.create(body({ duration_ms: 1_001 }), key))).toBe(CONFLICT);
    expect(verdict(await maker.submit(id, quoteTerms(510_000), quoteKey))).toBe(CONFLICT);
    expect(verdict(await maker.submit(id, quoteTerms(), randomUUID()))).toBe('422 AUCTION_NOT_OPEN');
  });

  it('with the same key and other content is a conflict, whatever the formatting', async () => {
    const key = randomUUID();
    const asked = body();
    const first = await originator.create(asked, key);
    expect(first.status).toBe(201);
    expect(verdict(await originator.create({ ...asked, quantity_atoms: 11 * CONTRACT }, key))).toBe(CONFLICT);
    const reordered = Object.fromEntries(Object.entries(asked).reverse());
    const raw = JSON.stringify(reordered, undefined, 3);
    const same = await originator.api.send('POST', '/v1/auctions', {
      raw,
      headers: { 'idempotency-key': key },
    });
    expect([same.status, same.text]).toEqual([200, first.text]);
    await originator.cancel(first.body.auction_id);
  });

  it('that was rejected stays rejected, with the same body', async () => {
    const key = randomUUID();
    const bad = body({ quantity_atoms: CONTRACT + 1 });
    const answers = [await originator.create(bad, key), await originator.create(bad, key)];
    expect(answers.map(verdict)).toEqual(['422 INVALID_QUANTITY_STEP', '422 INVALID_QUANTITY_STEP']);
    expect(answers[1]!.text).toBe(answers[0]!.text);
    expect(verdict(await originator.create(body(), key))).toBe(CONFLICT);
  });

  it('may have its key in the header, in the body, or the same key in both', async () => {
    const key = randomUUID();
    const inHeader = await originator.create(body(), key);
    const inBody = await originator.api.post('/v1/auctions', body({ idempotency_key: key }), null);
    const inBoth = await originator.create(body({ idempotency_key: key }), key);
    expect([inHeader, inBody, inBoth].map(({ status }) => status)).toEqual([201, 200, 200]);
    expect(inBody.text).toBe(inHeader.text);
    expect(inBoth.text).toBe(inHeader.text);
    await originator.cancel(inHeader.body.auction_id);
  });

  it('needs a key in the documented form', async () => {
    const longest = 'k'.repeat(128);
    const rows: readonly (readonly [Fields, string | null, string])[] = [
      [{}, null, KEY_REQUIRED],
      [{}, '', KEY_REQUIRED],
      [{}, 'with space', KEY_REQUIRED],
      [{}, 'ümlaut'.normalize(), KEY_REQUIRED],
      [{}, `${longest}k`, KEY_REQUIRED],
      [{ idempotency_key: '' }, null, KEY_REQUIRED],
      [{ idempotency_key: `${longest}k` }, null, KEY_REQUIRED],
      [{ idempotency_key: 'one' }, 'two', KEY_MISMATCH],
      [{ idempotency_key: 'bad key' }, 'good', KEY_MISMATCH],
      [{ idempotency_key: 'good' }, 'bad key', KEY_MISMATCH],
      [{ idempotency_key: 7 }, null, '400 invalid_json'],
    ];
    for (const [more, key, expected] of rows) {
      const header = key === null ? null : Buffer.from(key).toString('latin1');
      const answer = await originator.api.post('/v1/auctions', body(more), header);
      expect([more, key, verdict(answer)]).toEqual([more, key, expected]);
    }
    const accepted = await originator.create(body(), `${longest.slice(0, 89)}${randomUUID()}_.:`);
    expect(accepted.status).toBe(201);
    await originator.cancel(accepted.body.auction_id);
  });

  it('has its own keys: other accounts, operations and auctions do not share them', async () => {
    const other = await floor.newTrader('originator');
    const key = randomUUID();
    const mine = await originator.create(body(), key);
    const theirs = await other.create(body(), key);
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(theirs.body.auction_id).not.toBe(mine.body.auction_id);
    const quoted = await Promise.all(
      [mine, theirs].map(({ body: { auction_id: id } }) => maker.submit(id, quoteTerms(), key)),
    );
    expect(quoted.map(({ status }) => status)).toEqual([201, 201]);
    const revised = await maker.revise(quoted[0]!.body, { price_atoms: 510_000 }, key);
    expect(revised.body.revision).toBe(2);
    expect((await originator.cancel(mine.body.auction_id, {}, key)).body.status).toBe('CANCELLED');
    await other.cancel(theirs.body.auction_id);
  });
});

describe('a command on an auction', () => {
  let auction: AuctionJson;

  beforeAll(async () => {
    auction = await originator.opens(body());
  });

  it('submitted 20 times at once with one key is one quote', async () => {
    const key = randomUUID();
    const answers = await times(20, () => maker.submit(auction.auction_id, quoteTerms(), key));
    expect(summary(answers)).toEqual({ statuses: { 201: 1, 200: 19 }, bodies: 1 });
    expect(await maker.myQuotes(auction.auction_id)).toHaveLength(1);
    expect(verdict(await maker.submit(auction.auction_id, quoteTerms(510_000), key))).toBe(CONFLICT);
  });

  it('repeats its first answer: revisions, withdrawals and rejections', async () => {
    const [quote] = await maker.myQuotes(auction.auction_id);
    const keys = { revise: randomUUID(), reject: randomUUID(), withdraw: randomUUID() };
    const revised = await maker.revise(quote!, { price_atoms: 505_000 }, keys.revise);
    const offGrid = quoteTerms(505_001);
    const rejected = await maker.revise(revised.body, { price_atoms: 505_001 }, keys.reject);
    const withdrawn = await maker.withdraw(revised.body, {}, keys.withdraw);
    expect([revised, rejected, withdrawn].map(verdict)).toEqual(['200', '422 INVALID_PRICE_TICK', '200']);
    const again = [
      await maker.revise(quote!, { price_atoms: 505_000 }, keys.revise),
      await maker.revise(revised.body, { price_atoms: 505_001 }, keys.reject),
      await maker.withdraw(revised.body, {}, keys.withdraw),
    ];
    expect(again.map(({ status, text }) => [status, text])).toEqual(
      [revised, rejected, withdrawn].map(({ status, text }) => [status, text]),
    );
    const submitKey = randomUUID();
    const refusals = [await maker.submit(auction.auction_id, offGrid, submitKey)];
    refusals.push(await maker.submit(auction.auction_id, offGrid, submitKey));
    expect(refusals.map(verdict)).toEqual(['422 INVALID_PRICE_TICK', '422 INVALID_PRICE_TICK']);
    expect(kinds(await maker.timeline(auction.auction_id)).slice(2)).toEqual([
      ...['QUOTE_ACCEPTED', 'QUOTE_REVISED', 'QUOTE_REJECTED', 'QUOTE_WITHDRAWN', 'QUOTE_REJECTED'],
    ]);
  });

  it('is one command for each key, whether it revises or withdraws', async () => {
    const [revised, withdrawn] = [randomUUID(), randomUUID()];
    const firm = await originator.opens(body({ quote_revision_policy: 'IMPROVE_ONLY' }));
    const standing = await maker.quotes(firm.auction_id, 500_000, 5);
    mustBe(200, await maker.revise(standing, { price_atoms: 490_000 }, revised));
    expect(verdict(await maker.revise(standing, { price_atoms: 480_000 }, revised))).toBe(CONFLICT);
    expect(verdict(await maker.withdraw(standing, {}, withdrawn))).toBe('422 QUOTE_NOT_WITHDRAWABLE');
    expect(verdict(await maker.withdraw(standing, { expected_revision: 1 }, withdrawn))).toBe(CONFLICT);
    await originator.cancel(firm.auction_id);
  });

  it('that met a conflict may be repeated with the same key once the conflict is gone', async () => {
    const standing = await maker.submit(auction.auction_id, quoteTerms());
    const key = randomUUID();
    expect(verdict(await maker.submit(auction.auction_id, quoteTerms(520_000), key))).toBe(
      '409 quote_already_active',
    );
    await maker.withdraw(standing.body);
    expect((await maker.submit(auction.auction_id, quoteTerms(520_000), key)).status).toBe(201);
  });

  it('cancels once and gives the same answer again', async () => {
    const key = randomUUID();
    const answers = [
      await originator.cancel(auction.auction_id, { reason: 'enough' }, key),
      await originator.cancel(auction.auction_id, { reason: 'enough' }, key),
    ];
    expect(summary(answers)).toEqual({ statuses: { 200: 2 }, bodies: 1 });
    expect(verdict(await originator.cancel(auction.auction_id, { reason: 'other' }, key))).toBe(CONFLICT);
  });

  it.each(['quotes', 'cancel'])('on %s needs a key as well', async (path) => {
    const caller = path === 'cancel' ? originator : maker;
    const asked = path === 'cancel' ? {} : quoteTerms();
    const url = `/v1/auctions/${auction.auction_id}/${path}`;
    expect(verdict(await caller.api.post(url, asked, null))).toBe(KEY_REQUIRED);
    expect(verdict(await caller.api.post(url, { ...asked, idempotency_key: 'a' }, 'b'))).toBe(KEY_MISMATCH);
  });
});

describe('withdraw-all', () => {
  it('runs once on every shard for one key', async () => {
    const auctions = await times(6, () => originator.opens(body()));
    const ids = auctions.map(({ auction_id: id }) => id);
    await Promise.all(ids.map((id) => maker.quotes(id, 500_000, 1)));
    const key = randomUUID();
    const first = await maker.api.post<{ withdrawn: string[] }>('/v1/quotes/withdraw-all', {}, key);
    expect(first.body.withdrawn).toHaveLength(6);
    await maker.quotes(ids[0]!, 500_000, 1);
    const again = await maker.api.post('/v1/quotes/withdraw-all', {}, key);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect((await maker.myQuotes(ids[0]!)).map(({ status }) => status).sort()).toEqual([
      'ACTIVE',
      'WITHDRAWN',
    ]);
    expect(verdict(await maker.api.post('/v1/quotes/withdraw-all', { venue: 'venue_a' }, key))).toBe(
      CONFLICT,
    );
    expect(verdict(await maker.api.post('/v1/quotes/withdraw-all', {}, null))).toBe(KEY_REQUIRED);
    await Promise.all(ids.map((id) => originator.cancel(id)));
  });
});

it('a key may be in the body, and every field may be given', async () => {
  const key = (): Fields => ({ idempotency_key: randomUUID() });
  const later = (ms: number): string => new Date(Date.now() + ms).toISOString().replace('Z', '000000Z');
  const whole = body({
    duration_ms: undefined,
    closes_at: later(120_000),
    limit_price_atoms: 600_000,
    min_fill_quantity_atoms: CONTRACT,
    allocation: 'SPLIT',
    max_winners: 4,
    quote_revision_policy: 'FREE',
    identity_policy: { originator: 'ANONYMOUS', market_makers: 'ANONYMOUS' },
    result_disclosure: 'WINNING_PRICE_AND_RANK',
    execution_deadline_ms: 30_000,
    client_reference: 'desk 7, order 1204',
    ...key(),
  });
  const post = <Body>(by: Trader, path: string, asked: Fields): Promise<ApiAnswer<Body>> =>
    by.api.post(path, asked, null);
  const at = `/v1/auctions/${mustBe(201, await post<AuctionJson>(originator, '/v1/auctions', whole)).auction_id}`;
  expect((await post(originator, '/v1/auctions', whole)).status).toBe(200);
  expect((await post(originator, '/v1/auctions/preflight', whole)).status).toBe(200);
  const terms = {
    price_atoms: 520_000,
    quantity_atoms: 4 * CONTRACT,
    min_quantity_atoms: CONTRACT,
    expires_at: later(60_000),
    client_reference: 'book 3',
  };
  const submit = { ...terms, ...key() };
  const { quote_id: id } = mustBe(201, await post<QuoteJson>(maker, `${at}/quotes`, submit));
  expect((await post(maker, `${at}/quotes`, submit)).status).toBe(200);
  const revise = {
    ...terms,
    expected_revision: 1,
    price_atoms: 510_000,
    min_quantity_atoms: 2 * CONTRACT,
    expires_at: later(90_000),
    ...key(),
  };
  mustBe(200, await post(maker, `${at}/quotes/${id}/revise`, revise));
  mustBe(200, await post(maker, `${at}/quotes/${id}/withdraw`, { expected_revision: 2, ...key() }));
  mustBe(
    200,
    await post(maker, '/v1/quotes/withdraw-all', {
      auction_ids: [`0${randomUUID().slice(1)}`],
      venue: 'venue_x',
      ...key(),
    }),
  );
  mustBe(200, await post(originator, `${at}/cancel`, { reason: 'no longer needed', ...key() }));
});
