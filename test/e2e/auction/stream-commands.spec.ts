import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer } from '#libs/client/api-client.js';
import type { StreamClient } from '#libs/client/stream-client.js';
import type { Ack, Reject } from '#libs/client/stream-wire.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import { type StreamFloor, streamFloor } from '../stream-floor.js';
import { auctionBody, CONTRACT, kinds, mustBe, type Trader } from '../trading-floor.js';

type Fields = Readonly<Record<string, unknown>>;

const OPERATIONS = ['quote.submit', 'quote.revise', 'quote.withdraw', 'auction.cancel'] as const;

jest.setTimeout(60_000);

let floor: StreamFloor;
let originator: Trader;
let maker: Trader;
let other: Trader;

beforeAll(async () => {
  floor = await streamFloor();
  [originator, maker, other] = await floor.newTraders('originator', 'maker', 'maker');
}, 60_000);

afterAll(() => {
  floor.close();
});

function opens(differing: Fields = {}): Promise<AuctionJson> {
  return originator.opens(auctionBody(floor.contract('venue_c', 3), [maker, other], differing));
}

const TERMS = { price_atoms: 500_000, quantity_atoms: CONTRACT };

/** The path and body over HTTP of a stream command with this type and these fields. */
function overHttp(type: string, fields: Fields): { readonly path: string; readonly body: Fields } {
  const { auction_id: auctionId, quote_id: quoteId, ...body } = fields;
  const auction = `/v1/auctions/${String(auctionId)}`;
  const paths: Readonly<Record<string, string>> = {
    'quote.submit': `${auction}/quotes`,
    'quote.revise': `${auction}/quotes/${String(quoteId)}/revise`,
    'quote.withdraw': `${auction}/quotes/${String(quoteId)}/withdraw`,
    'quote.withdraw_all': '/v1/quotes/withdraw-all',
    'quote.preflight': `${auction}/quotes/preflight`,
    'auction.cancel': `${auction}/cancel`,
  };
  return { path: paths[type]!, body };
}

async function post(
  trader: Trader,
  type: string,
  fields: Fields,
  key: string | null,
): Promise<ApiAnswer<unknown>> {
  const { path, body } = overHttp(type, fields);
  return trader.api.post(path, body, key);
}

/** The bytes of a reply after its own fields: a result, or an error and its message. */
function contentOf(client: StreamClient, { cmd_id: cmdId }: Ack | Reject): string {
  const text = client.texts.find((frame) => frame.includes(`"cmd_id":"${cmdId}"`))!;
  const { status } = JSON.parse(text) as Ack;
  const head = `"cmd_id":"${cmdId}","status":${status},`;
  const content = text.slice(text.indexOf(head) + head.length, -1);
  return text.startsWith('{"type":"ack"') ? content.slice('"result":'.length) : `{${content}}`;
}

/** Each operation with fields that can succeed. */
async function feasible(
  type: (typeof OPERATIONS)[number],
): Promise<{ readonly by: Trader; readonly fields: Fields }> {
  const { auction_id: id } = await opens();
  if (type === 'quote.submit')
    return { by: maker, fields: { auction_id: id, ...TERMS, client_reference: 'mine' } };
  if (type === 'auction.cancel') return { by: originator, fields: { auction_id: id, reason: 'enough' } };
  const { quote_id: quoteId } = await maker.quotes(id, 510_000, 2);
  const quote = { auction_id: id, quote_id: quoteId, expected_revision: 1 };
  return { by: maker, fields: type === 'quote.revise' ? { ...quote, price_atoms: 500_000 } : quote };
}

describe.each(OPERATIONS)('%s', (type) => {
  it('over a stream and repeated over HTTP with its key is one command, with the same bytes', async () => {
    const { by, fields } = await feasible(type);
    const key = randomUUID();
    const client = await floor.listen(by.name, {}, { gateway: 1 });
    const first = await client.command(type, { ...fields, idempotency_key: key });
    expect([first.type, first.status]).toEqual(['ack', type === 'quote.submit' ? 201 : 200]);
    const repeated = await post(by, type, fields, key);
    expect([repeated.status, repeated.text]).toEqual([200, contentOf(client, first)]);
    // not_after is not part of the content, and the stored answer is given even after it.
    const late = { ...fields, idempotency_key: key, not_after: '2020-01-01T00:00:00Z' };
    const again = await client.command(type, late);
    expect([again.type, again.status, contentOf(client, again)]).toEqual(['ack', 200, repeated.text]);
  });

  it('over HTTP and repeated over a stream of another gateway is one command, with the same bytes', async () => {
    const { by, fields } = await feasible(type);
    const key = randomUUID();
    const first = await post(by, type, fields, key);
    expect(first.status).toBeLessThan(300);
    const client = await floor.listen(by.name, {}, { gateway: 1 });
    const repeated = await client.command(type, { ...fields, idempotency_key: key });
    expect([repeated.type, repeated.status, contentOf(client, repeated)]).toEqual(['ack', 200, first.text]);
  });

  it('with other content under its key is a conflict', async () => {
    const { by, fields } = await feasible(type);
    const key = randomUUID();
    mustBe(type === 'quote.submit' ? 201 : 200, await post(by, type, fields, key));
    const client = await floor.listen(by.name);
    const changes: Fields = {
      'quote.submit': { price_atoms: 490_000 },
      'quote.revise': { price_atoms: 490_000 },
      'quote.withdraw': { expected_revision: 2 },
      'auction.cancel': { reason: 'other' },
    };
    const different = { ...fields, ...(changes[type] as Fields), idempotency_key: key };
    expect(await client.command(type, different)).toMatchObject({
      type: 'reject',
      status: 409,
      error: 'idempotency_key_conflict',
    });
  });

  it('after its not_after is refused, leaves no trace, and does not use its key', async () => {
    const { by, fields } = await feasible(type);
    const key = randomUUID();
    const before = await by.timeline(String(fields.auction_id));
    const client = await floor.listen(by.name);
    const late = await client.command(type, {
      ...{ ...fields, idempotency_key: key },
      not_after: new Date(Date.now() - 1_000).toISOString(),
    });
    expect(late).toEqual({
      type: 'reject',
      cmd_id: expect.any(String),
      ...{ status: 422, error: 'COMMAND_EXPIRED', message: expect.stringMatching(/./) },
    });
    expect(await by.timeline(String(fields.auction_id))).toEqual(before);
    const inTime = await client.command(type, {
      ...{ ...fields, idempotency_key: key },
      not_after: new Date(Date.now() + 60_000).toISOString(),
    });
    expect(inTime.type).toBe('ack');
    expect((await by.timeline(String(fields.auction_id))).length).toBeGreaterThan(before.length);
  });
});

describe('one key at once over a stream and over HTTP', () => {
  it('is one command, whichever comes first', async () => {
    const client = await floor.listen(maker.name, {}, { gateway: 1 });
    for (let round = 0; round < 10; round += 1) {
      const { auction_id: id } = await opens();
      const [key, fields] = [randomUUID(), { auction_id: id, ...TERMS }];
      const [streamed, posted] = await Promise.all([
        client.command('quote.submit', { ...fields, idempotency_key: key }),
        post(maker, 'quote.submit', fields, key),
      ]);
      expect([streamed.status, posted.status].sort()).toEqual([200, 201]);
      expect(contentOf(client, streamed)).toBe(posted.text);
      const accepted = kinds(await maker.timeline(id)).filter((kind) => kind === 'QUOTE_ACCEPTED');
      expect(accepted).toHaveLength(1);
      await originator.cancel(id);
    }
  });
});

describe('quote.withdraw_all', () => {
  it('withdraws as over HTTP, and can be repeated over it', async () => {
    const auctions = await Promise.all([
      opens(),
      opens(),
      opens(),
      opens({ quote_revision_policy: 'FINAL' }),
    ]);
    for (const { auction_id: id } of auctions) await other.quotes(id, 500_000, 1);
    const [key, client] = [randomUUID(), await floor.listen(other.name, {}, { gateway: 1 })];
    const ids = auctions.map(({ auction_id: id }) => id);
    const fields = { auction_ids: ids };
    const reply = await client.command('quote.withdraw_all', { ...fields, idempotency_key: key });
    const { result } = reply as Ack<{ withdrawn: string[]; not_withdrawable: object[]; shards: object[] }>;
    expect([reply.type, reply.status]).toEqual(['ack', 200]);
    expect([result.withdrawn.length, result.not_withdrawable.length]).toEqual([3, 1]);
    expect(result.shards).toHaveLength(3);
    const repeated = await post(other, 'quote.withdraw_all', fields, key);
    expect([repeated.status, repeated.text]).toEqual([200, contentOf(client, reply)]);
    const late = { not_after: '2020-01-01T00:00:00Z' };
    const refused = await client.command('quote.withdraw_all', { ...fields, ...late });
    expect(refused).toMatchObject({ type: 'reject', status: 422, error: 'COMMAND_EXPIRED' });
  });
});

describe('quote.preflight', () => {
  it('gives the same verdict as HTTP, without a key', async () => {
    const { auction_id: id } = await opens();
    const client = await floor.listen(maker.name);
    const fields = { auction_id: id, price_atoms: 500_000, max_executable_quantity_atoms: CONTRACT };
    const reply = (await client.ask('quote.preflight', fields)) as Ack;
    const answer = await maker.preflightQuote(id, 500_000, CONTRACT);
    const timeless = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
    expect([reply.type, reply.status]).toEqual(['ack', 200]);
    expect(timeless(contentOf(client, reply))).toBe(timeless(answer.text));
    const late = await client.ask('quote.preflight', { ...fields, not_after: '2020-01-01T00:00:00Z' });
    expect(late).toMatchObject({ type: 'reject', status: 422, error: 'COMMAND_EXPIRED' });
    await originator.cancel(id);
    const over = (await client.ask('quote.preflight', fields)) as Reject;
    const refused = await maker.preflightQuote(id, 500_000, CONTRACT);
    expect([over.type, over.status, contentOf(client, over)]).toEqual(['reject', 422, refused.text]);
  });
});

describe('a refusal', () => {
  let open: AuctionJson;
  let over: AuctionJson;
  let standing: QuoteJson;

  beforeEach(async () => {
    [open, over] = await Promise.all([opens({ duration_ms: 30_000 }), opens()]);
    standing = await maker.quotes(open.auction_id, 500_000, 1);
    await originator.cancel(over.auction_id);
  });

  /** The last entry of each row: whether its refusal is stored under its key. */
  it('is the same over a stream and over HTTP: status, code and message', async () => {
    const on = (fields: Fields): Fields => ({ auction_id: open.auction_id, ...TERMS, ...fields });
    const quote = { auction_id: open.auction_id, quote_id: standing.quote_id };
    const unknown = { ...quote, quote_id: `${standing.quote_id.slice(0, -4)}0000` };
    const rows: [Trader, string, Fields, string, boolean][] = [
      [other, 'quote.submit', on({ price_atoms: 500_001 }), '422 INVALID_PRICE_TICK', true],
      [other, 'quote.submit', on({ price_atoms: 0 }), '422 PRICE_OUT_OF_RANGE', true],
      [other, 'quote.submit', on({ quantity_atoms: 11 * CONTRACT }), '422 UNAUTHORIZED_SIZE', true],
      [other, 'quote.submit', on({ auction_id: over.auction_id }), '422 AUCTION_NOT_OPEN', false],
      [maker, 'quote.submit', on({}), '409 quote_already_active', false],
      [originator, 'quote.submit', on({}), '403 forbidden', false],
      [
        maker,
        'quote.revise',
        { ...quote, expected_revision: 7, price_atoms: 1_000 },
        '409 quote_revision_conflict',
        false,
      ],
      [
        maker,
        'quote.revise',
        { ...unknown, expected_revision: 1, price_atoms: 1_000 },
        '404 quote_not_found',
        false,
      ],
      [other, 'quote.withdraw', quote, '404 quote_not_found', false],
      [maker, 'quote.withdraw', { ...quote, expected_revision: 7 }, '409 quote_revision_conflict', false],
      [maker, 'auction.cancel', { auction_id: open.auction_id }, '403 forbidden', false],
      [originator, 'auction.cancel', { auction_id: over.auction_id }, '422 AUCTION_NOT_OPEN', false],
      [
        originator,
        'auction.cancel',
        { auction_id: open.auction_id, reason: 'x'.repeat(201) },
        '422 INVALID_TERMS',
        false,
      ],
    ];
    for (const [by, type, fields, expected, isKept] of rows) {
      const client = await floor.listen(by.name, {}, { gateway: 1 });
      const key = randomUUID();
      const streamed = await client.command(type, { ...fields, idempotency_key: key });
      const content = contentOf(client, streamed);
      const posted = await post(by, type, fields, randomUUID());
      const { error } = JSON.parse(content) as { error: string };
      expect([streamed.type, `${streamed.status} ${error}`]).toEqual(['reject', expected]);
      expect([streamed.status, content]).toEqual([posted.status, posted.text]);
      if (!isKept) continue;
      const repeated = await post(by, type, fields, key);
      expect([repeated.status, repeated.text]).toEqual([422, content]);
      const rejections = kinds(await by.timeline(open.auction_id)).filter(
        (kind) => kind === 'QUOTE_REJECTED',
      );
      // One for the stream, one for HTTP's own key, and none for the repeat.
      expect(rejections.length % 2).toBe(0);
    }
  });
});

describe('every command', () => {
  const later = (ms: number): string => new Date(Date.now() + ms).toISOString().replace('Z', '000000Z');

  it('accepts every field that it has over HTTP, and its own not_after', async () => {
    const { auction_id: id } = await opens();
    const listening = await floor.listen(maker.name);
    const done = async (type: string, fields: Fields): Promise<Fields> => {
      const reply = await listening.command(type, { not_after: later(30_000), ...fields });
      expect([type, reply.type]).toEqual([type, 'ack']);
      return reply.type === 'ack' ? reply.result : {};
    };
    const terms = {
      auction_id: id,
      price_atoms: 500_000,
      quantity_atoms: 4 * CONTRACT,
      min_quantity_atoms: CONTRACT,
      client_reference: 'book 3',
    };
    await listening.ask('quote.preflight', {
      auction_id: id,
      price_atoms: 500_000,
      max_executable_quantity_atoms: CONTRACT,
      not_after: later(30_000),
    });
    const quote = await done('quote.submit', { ...terms, expires_at: later(60_000) });
    const changed = {
      ...terms,
      quantity_atoms: 5 * CONTRACT,
      client_reference: 'book 4',
      expires_at: later(90_000),
    };
    const revised = await done('quote.revise', {
      ...changed,
      quote_id: quote.quote_id,
      expected_revision: 1,
    });
    expect(revised).toMatchObject({ revision: 2, client_reference: 'book 4' });
    await done('quote.withdraw', { auction_id: id, quote_id: quote.quote_id, expected_revision: 2 });
    const all = await done('quote.withdraw_all', {
      auction_ids: [id],
      venue: 'venue_c',
      idempotency_key: randomUUID(),
    });
    expect(all).toMatchObject({ withdrawn: [] });
    await originator.cancel(id);
  });
});
