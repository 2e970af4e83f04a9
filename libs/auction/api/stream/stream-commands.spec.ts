import 'reflect-metadata';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Call, CallOf } from '#libs/edge/endpoint.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { JsonObject } from '#libs/edge/decoding/strict-json.js';
import type { StreamCommandName } from '../../stream/client-messages.js';
import { RecordedTracing } from '#libs/testing/tracing/recorded-tracing.js';
import { cancelAuction } from '../auctions/auction-endpoints.js';
import {
  preflightQuote,
  reviseQuote,
  submitQuote,
  withdrawAllQuotes,
  withdrawQuote,
} from '../quotes/quote-endpoints.js';
import { StreamCommands } from './stream-commands.js';

const AUCTION = '0a000000-0000-8000-8000-000000000001';
const QUOTE = '0b000000-0000-8000-8000-000000000001';
const NOW = '2026-11-20T12:00:00.000000000Z';

let calls: Call[];
let reply: Reply;

/** Endpoints that give the reply of the test and record their calls. */
class Endpoints {
  @Endpoint(submitQuote)
  submit(call: CallOf<typeof submitQuote>): Reply {
    return this.record(call);
  }

  @Endpoint(reviseQuote)
  revise(call: CallOf<typeof reviseQuote>): Reply {
    return this.record(call);
  }

  @Endpoint(withdrawQuote)
  withdraw(call: CallOf<typeof withdrawQuote>): Reply {
    return this.record(call);
  }

  @Endpoint(withdrawAllQuotes)
  withdrawAll(call: CallOf<typeof withdrawAllQuotes>): Reply {
    return this.record(call);
  }

  @Endpoint(preflightQuote)
  preflight(call: CallOf<typeof preflightQuote>): Reply {
    return this.record(call);
  }

  @Endpoint(cancelAuction)
  cancel(call: CallOf<typeof cancelAuction>): Reply {
    return this.record(call);
  }

  private record(call: Call): Reply {
    calls.push(call);
    return reply;
  }
}

const commands = new StreamCommands([new Endpoints()], { newRequestId: () => 'request', now: () => NOW });

beforeEach(() => {
  calls = [];
  reply = { status: 200, body: '{}' };
});

async function run(
  name: StreamCommandName,
  fields: JsonObject,
  capabilities = ['auction:quote', 'auction:create'],
) {
  const principal = { account_id: 'mia', roles: new Set<string>(), capabilities: new Set(capabilities) };
  const { status, body } = await commands.run({ name, fields, principal, connectionId: 'connection' });
  return { status, ...(JSON.parse(body) as { error?: string }) };
}

const ids = { auction_id: AUCTION, quote_id: QUOTE };
const terms = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
const GOOD: readonly (readonly [StreamCommandName, JsonObject, JsonObject, JsonObject])[] = [
  ['quote.submit', { auction_id: AUCTION, ...terms }, { auctionID: AUCTION }, terms],
  [
    'quote.revise',
    { ...ids, expected_revision: 1, price_atoms: 5 },
    { auctionID: AUCTION, quoteID: QUOTE },
    { expected_revision: 1, price_atoms: 5 },
  ],
  ['quote.withdraw', ids, { auctionID: AUCTION, quoteID: QUOTE }, {}],
  ['quote.withdraw_all', { venue: 'venue_a' }, {}, { venue: 'venue_a' }],
  ['auction.cancel', { auction_id: AUCTION, reason: 'enough' }, { auctionID: AUCTION }, { reason: 'enough' }],
];

describe('a command over a stream', () => {
  it.each(GOOD)('%s calls the endpoint of that name', async (name, fields, path, body) => {
    reply = { status: 201, body: '{"a":1}' };
    expect(await run(name, { ...fields, idempotency_key: 'key-1' })).toEqual({ status: 201, a: 1 });
    expect(calls).toMatchObject([
      {
        requestId: 'request',
        principal: { account_id: 'mia' },
        ids: path,
        idempotencyKey: 'key-1',
        overStream: { connectionId: 'connection' },
      },
    ]);
    expect(calls[0]?.body).toEqual(body);
    expect(calls[0]?.overStream).not.toHaveProperty('notAfter');
  });

  it.each(GOOD)('%s needs a valid idempotency key', async (name, fields) => {
    for (const key of [
      {},
      { idempotency_key: '' },
      { idempotency_key: 'a b' },
      { idempotency_key: 'x'.repeat(129) },
    ]) {
      expect(await run(name, { ...fields, ...key })).toEqual({
        status: 400,
        error: 'idempotency_key_required',
      });
    }
    expect(await run(name, { ...fields, idempotency_key: 7 })).toEqual({
      status: 400,
      error: 'invalid_json',
    });
    expect(calls).toEqual([]);
  });

  it.each([
    ['the capability first', 'quote.submit', { auction_id: 'x' }, [], 403, 'forbidden'],
    [
      'the capability of the endpoint',
      'auction.cancel',
      { auction_id: 'x' },
      ['auction:quote'],
      403,
      'forbidden',
    ],
    [
      'the ids before the body',
      'quote.revise',
      { auction_id: 'x', quote_id: 'x', a: 1 },
      undefined,
      400,
      'invalid_auction_id',
    ],
    [
      'one id after the other',
      'quote.revise',
      { auction_id: AUCTION, quote_id: 'x', a: 1 },
      undefined,
      400,
      'invalid_quote_id',
    ],
    ['required ids', 'quote.submit', { ...terms, idempotency_key: 'k' }, undefined, 400, 'invalid_json'],
    [
      'the body before the key',
      'quote.submit',
      { auction_id: AUCTION, price_atoms: 5 },
      undefined,
      400,
      'invalid_json',
    ],
    [
      'no unknown field',
      'quote.withdraw',
      { ...ids, idempotency_key: 'k', price_atoms: 5 },
      undefined,
      400,
      'invalid_json',
    ],
    [
      'no unknown id',
      'quote.submit',
      { ...ids, ...terms, idempotency_key: 'k' },
      undefined,
      400,
      'invalid_json',
    ],
    [
      'the key last',
      'quote.submit',
      { auction_id: AUCTION, ...terms },
      undefined,
      400,
      'idempotency_key_required',
    ],
  ] as const)('is checked as over HTTP: %s', async (_, name, fields, capabilities, status, error) => {
    expect(await run(name, fields, capabilities === undefined ? undefined : [...capabilities])).toEqual({
      status,
      error,
    });
    expect(calls).toEqual([]);
  });

  it('passes not_after to the owner, which decides by it', async () => {
    const fields = { auction_id: AUCTION, ...terms, idempotency_key: 'k' };
    await run('quote.submit', { ...fields, not_after: '2020-01-01T00:00:00Z' });
    expect(calls[0]?.overStream).toEqual({
      connectionId: 'connection',
      notAfter: '2020-01-01T00:00:00.000000000Z',
    });
    expect(calls[0]?.body).toEqual(terms);
    for (const not_after of ['yesterday', 7, '2020-01-01']) {
      expect(await run('quote.submit', { ...fields, not_after })).toEqual({
        status: 400,
        error: 'invalid_json',
      });
    }
    expect(calls).toHaveLength(1);
  });

  it('after not_after is refused here if no owner stores its answer', async () => {
    const fields = { auction_id: AUCTION, price_atoms: 5, max_executable_quantity_atoms: 5 };
    expect(
      await run('quote.preflight', { ...fields, not_after: '2026-11-20T11:59:59.999999999Z' }),
    ).toMatchObject({
      status: 422,
      error: 'COMMAND_EXPIRED',
    });
    expect(calls).toEqual([]);
    expect(await run('quote.preflight', { ...fields, not_after: NOW })).toEqual({ status: 200 });
    expect(calls).toHaveLength(1);
  });

  it('without an endpoint is an internal error', async () => {
    const none = new StreamCommands([], { newRequestId: () => 'request', now: () => NOW });
    const principal = { account_id: 'mia', roles: new Set<string>(), capabilities: new Set<string>() };
    await expect(
      none.run({ name: 'quote.submit', fields: {}, principal, connectionId: '' }),
    ).rejects.toThrow();
  });
});

describe('the trace of a command', () => {
  const principal = { account_id: 'mia', roles: new Set<string>(), capabilities: new Set(['auction:quote']) };
  const call = { name: 'quote.submit', fields: {}, principal, connectionId: '' } as const;
  const ports = { newRequestId: () => 'request', now: () => NOW };

  it('is its own, with the status and the code of the answer', async () => {
    const tracing = new RecordedTracing();
    const traced = new StreamCommands([new Endpoints()], { ...ports, tracing });
    reply = { status: 422, body: '{"error":"INVALID_PRICE_TICK","message":"no"}' };
    const fields = { auction_id: AUCTION, idempotency_key: 'key-1', ...terms };
    await traced.run({ ...call, fields });
    await traced.run(call);
    const facts = { requestId: 'request', operation: 'submitQuote' };
    expect(tracing.lines).toEqual(['quote.submit', 'quote.submit']);
    expect(tracing.spans.map((span) => span.facts)).toEqual([
      { ...facts, status: 422, code: 'INVALID_PRICE_TICK' },
      { ...facts, status: 400, code: 'invalid_json' },
    ]);
  });

  it('ends when the command fails', async () => {
    const tracing = new RecordedTracing();
    const none = new StreamCommands([], { ...ports, tracing });
    await expect(none.run(call)).rejects.toThrow();
    expect(tracing.lines).toEqual(['quote.submit']);
    expect(tracing.spans[0]?.facts).toMatchObject({ status: 500, code: 'internal_error' });
  });
});
