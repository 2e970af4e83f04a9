import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { StreamClient } from '#libs/client/stream-client.js';
import type { Ack, Reject } from '#libs/client/stream-wire.js';
import { streamFloor, type StreamFloor } from './stream-floor.js';
import { auctionBody, CONTRACT, type Trader } from './trading-floor.js';

type Fields = Readonly<Record<string, unknown>>;

jest.setTimeout(60_000);

let floor: StreamFloor;
let originator: Trader;
let maker: Trader;
let listening: StreamClient;
let id: string;

beforeAll(async () => {
  floor = await streamFloor();
  [originator, maker] = (await floor.traders('load-originator-3', 'load-maker-33')) as [Trader, Trader];
  const opened = await originator.opens(
    auctionBody(floor.contract('venue_c', 1), [maker], { duration_ms: 600_000 }),
  );
  id = opened.auction_id;
  listening = await floor.listen('load-maker-33');
}, 90_000);

afterAll(async () => {
  await originator.cancel(id);
  floor.close();
});

const later = (ms: number): string => new Date(Date.now() + ms).toISOString().replace('Z', '000000Z');

async function done(type: string, fields: Fields): Promise<Fields> {
  const reply: Ack | Reject = await listening.command(type, { not_after: later(30_000), ...fields });
  expect([type, reply.type]).toEqual([type, 'ack']);
  return reply.type === 'ack' ? reply.result : {};
}

describe('every command', () => {
  it('takes every field that it has over HTTP, and a time of its own', async () => {
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
  });
});
