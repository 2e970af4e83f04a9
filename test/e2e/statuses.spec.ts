import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer } from '#libs/client/api-client.js';
import type { ClusterContract } from '#libs/testing/cluster/cluster-file.js';
import type { AuctionView, Fault, QuoteView } from '#libs/client/wire.js';
import {
  auctionBody,
  CONTRACT,
  routeOf,
  sharedFloor,
  type Trader,
  type TradingFloor,
  verdict,
} from './trading-floor.js';

type Fields = Readonly<Record<string, unknown>>;

/** What the rows of the tables speak of; made before the first of them runs. */
interface Scene {
  readonly contract: ClusterContract;
  /** Open, with one standing quote of maker-6. */
  readonly auction: AuctionView;
  readonly quote: QuoteView;
  readonly cancelled: AuctionView;
  readonly cancelledQuote: QuoteView;
  readonly groupId: string;
}

interface Row {
  /** An account by name; `nobody` has no token. */
  readonly by: string;
  readonly call: string;
  readonly body?: Fields | ((scene: Scene) => Fields) | string | undefined;
  readonly key?: string | null;
  readonly gives: string;
}

const ORIGINATOR = 'load-originator-4';
const MAKER = 'maker-6';
/** Invited, without a quote. */
const SECOND = 'maker-7';
const UNRELATED = 'outsider-1';
const INCAPABLE = 'viewer-1';
const BIG = 'x'.repeat(1_048_577);

let floor: TradingFloor;
let scene: Scene;

const goodCreate = ({ contract }: Scene, differing: Fields = {}): Fields =>
  auctionBody(contract, [], { audience: { market_maker_ids: [floor.accountOf(MAKER)] }, ...differing });
const terms = { price_atoms: 500_000, quantity_atoms: CONTRACT };
const check = { price_atoms: 500_000, max_executable_quantity_atoms: CONTRACT };
const protection = {
  window_ms: 1_000,
  max_awards: 5,
  max_award_notional_atoms: 1_000_000_000,
  frozen_ms: 1_000,
};

beforeAll(async () => {
  floor = await sharedFloor();
  const [originator, maker, second] = (await floor.traders(ORIGINATOR, MAKER, SECOND)) as [
    Trader,
    Trader,
    Trader,
  ];
  const contract = floor.contract('venue_c', 3);
  const open = (): Promise<AuctionView> =>
    originator.opens(auctionBody(contract, [maker, second], { duration_ms: 600_000 }));
  const [auction, cancelled] = await Promise.all([open(), open()]);
  const quote = await maker.quotes(auction.auction_id, 500_000, 2);
  const cancelledQuote = await maker.quotes(cancelled.auction_id, 500_000, 2);
  await originator.cancel(cancelled.auction_id);
  const group = await originator.api.post<{ group_id: string }>(
    '/v1/groups',
    { name: 'g', market_maker_ids: [] },
    null,
  );
  scene = { contract, auction, quote, cancelled, cancelledQuote, groupId: group.body.group_id };
}, 60_000);

afterAll(async () => {
  await (await floor.trader(ORIGINATOR)).cancel(scene.auction.auction_id);
  floor.close();
});

/** Fills in `{auction}`, `{quote}` and the rest, and sends. */
async function send({ by, call, body, key }: Row): Promise<ApiAnswer<Fault>> {
  const [method = '', template = ''] = call.split(' ');
  const names: Record<string, string> = {
    auction: scene.auction.auction_id,
    quote: scene.quote.quote_id,
    cancelled: scene.cancelled.auction_id,
    cancelledQuote: scene.cancelledQuote.quote_id,
    group: scene.groupId,
    unknown: `0${randomUUID().slice(1)}`,
  };
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? name);
  const api = by === 'nobody' ? floor.anybody : (await floor.trader(by)).api;
  const content = typeof body === 'function' ? body(scene) : body;
  return api.send<Fault>(method, path, {
    ...(typeof content === 'string' ? { raw: content } : { body: content }),
    headers: key === null || method === 'GET' ? {} : { 'idempotency-key': key ?? randomUUID() },
  });
}

function rows(...groups: (readonly Row[])[]): [string, Row][] {
  return groups.flat().map((row) => [`${row.call} by ${row.by} gives ${row.gives}`, row]);
}

/** The refusals that every call with a body shares. */
function bodyRefusals(by: string, call: string, good: Row['body']): Row[] {
  return [
    { by, call, body: '{', gives: '400 invalid_json' },
    { by, call, body: `{"unknown_field":1}`, gives: '400 invalid_json' },
    { by, call, body: '{}{}', gives: '400 multiple_json_values' },
    { by, call, body: BIG, gives: '413 payload_too_large' },
    ...(good === undefined ? [] : [{ by: 'nobody', call, body: good, gives: '401 unauthorized' }]),
  ];
}

function keyRefusals(by: string, call: string, body: Row['body']): Row[] {
  const differently = (at: Scene): Fields => ({
    ...(typeof body === 'function' ? body(at) : (body as Fields)),
    idempotency_key: 'another',
  });
  return [
    { by, call, body, key: null, gives: '400 idempotency_key_required' },
    { by, call, body: differently, key: 'one', gives: '400 idempotency_key_mismatch' },
  ];
}

const CREATE = 'POST /v1/auctions';
const SUBMIT = 'POST /v1/auctions/{auction}/quotes';
const REVISE = 'POST /v1/auctions/{auction}/quotes/{quote}/revise';
const WITHDRAW = 'POST /v1/auctions/{auction}/quotes/{quote}/withdraw';
const CANCEL = 'POST /v1/auctions/{auction}/cancel';
const CHECK = 'POST /v1/auctions/{auction}/quotes/preflight';
const revision = { expected_revision: 1, price_atoms: 510_000 };

const creates: Row[] = [
  ...bodyRefusals(ORIGINATOR, CREATE, goodCreate),
  ...keyRefusals(ORIGINATOR, CREATE, goodCreate),
  { by: INCAPABLE, call: CREATE, body: goodCreate, gives: '403 forbidden' },
  { by: 'stranger-1', call: CREATE, body: goodCreate, gives: '401 unauthorized' },
  { by: MAKER, call: CREATE, body: goodCreate, gives: '422 PRINCIPAL_NOT_ENTITLED' },
];

const preflights: Row[] = [
  ...bodyRefusals(ORIGINATOR, 'POST /v1/auctions/preflight', goodCreate),
  { by: ORIGINATOR, call: 'POST /v1/auctions/preflight', body: goodCreate, key: null, gives: '200' },
  { by: INCAPABLE, call: 'POST /v1/auctions/preflight', body: goodCreate, gives: '403 forbidden' },
  {
    by: ORIGINATOR,
    call: 'POST /v1/auctions/preflight',
    body: (at) => goodCreate(at, { quantity_atoms: 1 }),
    gives: '422 INVALID_QUANTITY_STEP',
  },
  ...bodyRefusals(SECOND, CHECK, undefined),
  { by: SECOND, call: CHECK, body: check, key: null, gives: '200' },
  { by: 'nobody', call: CHECK, body: check, gives: '401 unauthorized' },
  { by: INCAPABLE, call: CHECK, body: check, gives: '403 forbidden' },
  { by: ORIGINATOR, call: CHECK, body: check, gives: '403 forbidden' },
  { by: UNRELATED, call: CHECK, body: check, gives: '404 auction_not_found' },
  {
    by: SECOND,
    call: 'POST /v1/auctions/{cancelled}/quotes/preflight',
    body: check,
    gives: '422 auction_rejected',
  },
  {
    by: SECOND,
    call: 'POST /v1/auctions/9{auction}/quotes/preflight',
    body: check,
    gives: '400 invalid_auction_id',
  },
  { by: SECOND, call: CHECK, body: { ...check, price_atoms: 500_001 }, gives: '422 INVALID_PRICE_TICK' },
];

const commands: Row[] = [
  ...bodyRefusals(SECOND, SUBMIT, terms),
  ...keyRefusals(SECOND, SUBMIT, terms),
  { by: INCAPABLE, call: SUBMIT, body: terms, gives: '403 forbidden' },
  { by: ORIGINATOR, call: SUBMIT, body: terms, gives: '403 forbidden' },
  { by: UNRELATED, call: SUBMIT, body: terms, gives: '404 auction_not_found' },
  { by: SECOND, call: 'POST /v1/auctions/3{auction}/quotes', body: terms, gives: '400 invalid_auction_id' },
  { by: MAKER, call: SUBMIT, body: terms, gives: '409 quote_already_active' },
  { by: SECOND, call: 'POST /v1/auctions/{cancelled}/quotes', body: terms, gives: '422 AUCTION_NOT_OPEN' },
  ...bodyRefusals(MAKER, REVISE, revision),
  ...keyRefusals(MAKER, REVISE, revision),
  { by: MAKER, call: REVISE, body: { expected_revision: 1 }, gives: '400 invalid_json' },
  {
    by: MAKER,
    call: 'POST /v1/auctions/{auction}/quotes/nonsense/revise',
    body: revision,
    gives: '400 invalid_quote_id',
  },
  {
    by: MAKER,
    call: 'POST /v1/auctions/x/quotes/{quote}/revise',
    body: revision,
    gives: '400 invalid_auction_id',
  },
  {
    by: MAKER,
    call: 'POST /v1/auctions/{auction}/quotes/{unknown}/revise',
    body: revision,
    gives: '404 quote_not_found',
  },
  { by: SECOND, call: REVISE, body: revision, gives: '404 quote_not_found' },
  { by: UNRELATED, call: REVISE, body: revision, gives: '404 auction_not_found' },
  { by: INCAPABLE, call: REVISE, body: revision, gives: '403 forbidden' },
  { by: ORIGINATOR, call: REVISE, body: revision, gives: '403 forbidden' },
  {
    by: MAKER,
    call: REVISE,
    body: { ...revision, expected_revision: 7 },
    gives: '409 quote_revision_conflict',
  },
  {
    by: MAKER,
    call: 'POST /v1/auctions/{cancelled}/quotes/{cancelledQuote}/revise',
    body: revision,
    gives: '422 AUCTION_NOT_OPEN',
  },
  ...bodyRefusals(MAKER, WITHDRAW, {}),
  ...keyRefusals(MAKER, WITHDRAW, {}),
  { by: SECOND, call: WITHDRAW, body: {}, gives: '404 quote_not_found' },
  { by: UNRELATED, call: WITHDRAW, body: {}, gives: '404 auction_not_found' },
  { by: INCAPABLE, call: WITHDRAW, body: {}, gives: '403 forbidden' },
  { by: ORIGINATOR, call: WITHDRAW, body: {}, gives: '403 forbidden' },
  { by: MAKER, call: WITHDRAW, body: { expected_revision: 7 }, gives: '409 quote_revision_conflict' },
  {
    by: MAKER,
    call: 'POST /v1/auctions/{auction}/quotes/x/withdraw',
    body: {},
    gives: '400 invalid_quote_id',
  },
  ...bodyRefusals(ORIGINATOR, CANCEL, {}),
  ...keyRefusals(ORIGINATOR, CANCEL, {}),
  { by: MAKER, call: CANCEL, body: {}, gives: '403 forbidden' },
  { by: UNRELATED, call: CANCEL, body: {}, gives: '404 auction_not_found' },
  { by: INCAPABLE, call: CANCEL, body: {}, gives: '403 forbidden' },
  { by: ORIGINATOR, call: 'POST /v1/auctions/{cancelled}/cancel', body: {}, gives: '422 AUCTION_NOT_OPEN' },
  { by: ORIGINATOR, call: 'POST /v1/auctions/x/cancel', body: {}, gives: '400 invalid_auction_id' },
  ...bodyRefusals(SECOND, 'POST /v1/quotes/withdraw-all', {}),
  ...keyRefusals(SECOND, 'POST /v1/quotes/withdraw-all', {}),
  { by: SECOND, call: 'POST /v1/quotes/withdraw-all', body: {}, gives: '200' },
  {
    by: SECOND,
    call: 'POST /v1/quotes/withdraw-all',
    body: { auction_ids: [`3${randomUUID().slice(1)}`] },
    gives: '400 invalid_json',
  },
  { by: INCAPABLE, call: 'POST /v1/quotes/withdraw-all', body: {}, gives: '403 forbidden' },
];

const reads: Row[] = [
  ...['GET /v1/auctions', 'GET /v1/auctions/{auction}', 'GET /v1/auctions/{auction}/events'].flatMap(
    (call) => [
      { by: 'nobody', call, gives: '401 unauthorized' },
      { by: ORIGINATOR, call, gives: '200' },
    ],
  ),
  ...['', '/events', '/quotes'].flatMap((part) => [
    { by: UNRELATED, call: `GET /v1/auctions/{auction}${part}`, gives: '404 auction_not_found' },
    { by: ORIGINATOR, call: `GET /v1/auctions/{unknown}${part}`, gives: '404 auction_not_found' },
    { by: ORIGINATOR, call: `GET /v1/auctions/nonsense${part}`, gives: '400 invalid_auction_id' },
    { by: INCAPABLE, call: `GET /v1/auctions/{auction}${part}`, gives: '404 auction_not_found' },
  ]),
  { by: INCAPABLE, call: 'GET /v1/auctions', gives: '200' },
  { by: MAKER, call: 'GET /v1/auctions/{auction}/quotes', gives: '200' },
  { by: ORIGINATOR, call: 'GET /v1/auctions?limit=51', gives: '400 invalid_list_page' },
  { by: ORIGINATOR, call: 'GET /v1/auctions/{auction}/events?limit=0', gives: '400 invalid_events_page' },
  { by: MAKER, call: 'GET /v1/quotes', gives: '200' },
  { by: MAKER, call: 'GET /v1/quotes?status=LOST', gives: '400 invalid_list_page' },
  { by: 'nobody', call: 'GET /v1/quotes', gives: '401 unauthorized' },
  { by: 'nobody', call: 'GET /healthz', gives: '200' },
  { by: 'nobody', call: 'GET /readyz', gives: '200' },
  { by: 'nobody', call: 'GET /.well-known/jwks.json', gives: '200' },
  { by: 'nobody', call: 'GET /nowhere', gives: '404 not_found' },
  { by: 'nobody', call: 'GET /v1/nowhere', gives: '401 unauthorized' },
  { by: MAKER, call: 'GET /v1/nowhere', gives: '404 not_found' },
  { by: MAKER, call: 'PATCH /v1/auctions', gives: '405 method_not_allowed' },
  { by: 'nobody', call: 'POST /healthz', gives: '405 method_not_allowed' },
];

const account: Row[] = [
  ...[
    '/v1/me',
    '/v1/me/limits',
    '/v1/me/protection',
    '/v1/contracts',
    '/v1/market-makers',
    '/v1/groups',
  ].flatMap((path) => [
    { by: 'nobody', call: `GET ${path}`, gives: '401 unauthorized' },
    { by: ORIGINATOR, call: `GET ${path}`, gives: '200' },
  ]),
  { by: ORIGINATOR, call: 'GET /v1/contracts?limit=0', gives: '400 invalid_list_page' },
  { by: ORIGINATOR, call: 'GET /v1/contracts?venue=%00', gives: '400 invalid_list_page' },
  {
    by: ORIGINATOR,
    call: `GET /v1/contracts?cursor=${Buffer.from('{"v":"venue_a","c":"\\u0000","o":"YES"}').toString('base64url')}`,
    gives: '400 invalid_list_page',
  },
  { by: SECOND, call: 'PUT /v1/me/protection', body: protection, gives: '200' },
  {
    by: SECOND,
    call: 'PUT /v1/me/protection',
    body: { ...protection, window_ms: 0 },
    gives: '400 invalid_request',
  },
  { by: SECOND, call: 'PUT /v1/me/protection', body: { window_ms: 1 }, gives: '400 invalid_json' },
  { by: SECOND, call: 'POST /v1/me/protection/reset', gives: '200' },
  { by: SECOND, call: 'POST /v1/me/protection/reset', body: {}, gives: '200' },
  { by: SECOND, call: 'POST /v1/me/protection/reset', body: { now: true }, gives: '400 invalid_json' },
  { by: 'nobody', call: 'POST /auth/refresh', body: { token: 'x' }, gives: '400 invalid_json' },
  {
    by: ORIGINATOR,
    call: 'POST /v1/groups',
    body: { name: '', market_maker_ids: [] },
    gives: '400 invalid_request',
  },
  ...[' ', '\u00a0', 'a\u0001b', 'a\nb', 'a\u200bb', 'x'.repeat(65)].flatMap((name) =>
    ['POST /v1/groups', 'PUT /v1/groups/{group}'].map((call) => ({
      by: ORIGINATOR,
      call,
      body: { name, market_maker_ids: [] },
      gives: '400 invalid_request',
    })),
  ),
  ...[MAKER, INCAPABLE, 'operator-1'].flatMap((by) => [
    { by, call: 'GET /v1/market-makers', gives: '403 forbidden' },
    { by, call: 'GET /v1/groups', gives: '403 forbidden' },
    { by, call: 'POST /v1/groups', body: { name: 'x', market_maker_ids: [] }, gives: '403 forbidden' },
    { by, call: 'PUT /v1/groups/{group}', body: { name: 'x', market_maker_ids: [] }, gives: '403 forbidden' },
    { by, call: 'DELETE /v1/groups/{unknown}', gives: '403 forbidden' },
  ]),
  {
    by: ORIGINATOR,
    call: 'POST /v1/groups',
    body: { name: 'x', market_maker_ids: ['y'] },
    gives: '400 invalid_json',
  },
  { by: ORIGINATOR, call: 'PUT /v1/groups/{group}', body: { name: 'x', market_maker_ids: [] }, gives: '200' },
  {
    by: 'originator-2',
    call: 'PUT /v1/groups/{group}',
    body: { name: 'x', market_maker_ids: [] },
    gives: '404 not_found',
  },
  { by: 'originator-2', call: 'DELETE /v1/groups/{group}', gives: '404 not_found' },
  { by: ORIGINATOR, call: 'DELETE /v1/groups/{unknown}', gives: '404 not_found' },
  { by: ORIGINATOR, call: 'DELETE /v1/groups/nonsense', gives: '400 invalid_request' },
  {
    by: 'nobody',
    call: 'POST /auth/login',
    body: { email: 'maker-1@demo.sotto', password: 'wrong' },
    gives: '401 unauthorized',
  },
  {
    by: 'nobody',
    call: 'POST /auth/login',
    body: { email: 'maker-1@demo.sotto' },
    gives: '400 invalid_json',
  },
  { by: 'nobody', call: 'POST /auth/refresh', gives: '401 unauthorized' },
  { by: 'nobody', call: 'POST /auth/logout', gives: '401 unauthorized' },
  { by: 'nobody', call: 'POST /auth/logout-all', gives: '401 unauthorized' },
];

/** 409 and 422 are the engine's and explain themselves, and so does the 401 of the quote preflight; nothing else does. */
function mayExplain(row: Row, { status }: ApiAnswer<Fault>): boolean {
  return status === 409 || status === 422 || (status === 401 && row.call === CHECK);
}

describe.each([
  ['creating', creates],
  ['asking for capacity', preflights],
  ['commands', commands],
  ['reading', reads],
  ['the account', account],
])('%s', (_, table) => {
  it.each(rows(table))('%s', async (_name, row) => {
    const answer = await send(row);
    expect(verdict(answer)).toBe(row.gives);
    expect(answer.headers['x-request-id']).toMatch(/./);
    if (answer.status >= 400) {
      const fields = mayExplain(row, answer) ? ['error', 'message'] : ['error'];
      expect(Object.keys(answer.body).sort()).toEqual(fields);
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
    }
  });
});

describe('what a create may ask for', () => {
  const two = (at: Scene, venue: string): Fields => ({
    routes: [routeOf(at.contract), routeOf(floor.contract(venue, 4))],
  });
  const table: [string, (at: Scene) => Fields, string][] = [
    ['no quantity', () => ({ quantity_atoms: 0 }), 'INVALID_QUANTITY_STEP'],
    ['half a step', () => ({ quantity_atoms: 10_000_500 }), 'INVALID_QUANTITY_STEP'],
    ['more than it may trade', () => ({ quantity_atoms: 9_000_000_000_000_000 }), 'UNAUTHORIZED_SIZE'],
    ['more than it can pay', () => ({ quantity_atoms: 90_000_000_000_000 }), 'INSUFFICIENT_COLLATERAL'],
    ['no route', () => ({ routes: [] }), 'INVALID_TERMS'],
    ['a route twice', (at) => ({ routes: [routeOf(at.contract), routeOf(at.contract)] }), 'INVALID_TERMS'],
    [
      'an unknown market',
      (at) => ({ routes: [{ ...routeOf(at.contract), contract_id: 'none' }] }),
      'ROUTE_UNAVAILABLE',
    ],
    ['two different things', (at) => two(at, 'venue_c'), 'ROUTES_NOT_EQUIVALENT'],
    ['a limit between the ticks', () => ({ limit_price_atoms: 500_500 }), 'INVALID_PRICE_TICK'],
    ['a limit of nothing', () => ({ limit_price_atoms: 0 }), 'PRICE_OUT_OF_RANGE'],
    ['a limit of a whole dollar', () => ({ limit_price_atoms: 1_000_000 }), 'PRICE_OUT_OF_RANGE'],
    [
      'a minimum fill above the quantity',
      () => ({ min_fill_quantity_atoms: 11 * CONTRACT }),
      'INVALID_TERMS',
    ],
    ['a minimum fill off the step', () => ({ min_fill_quantity_atoms: 999_999 }), 'INVALID_QUANTITY_STEP'],
    ['winners of a single', () => ({ max_winners: 3 }), 'INVALID_TERMS'],
    ['one winner of a split', () => ({ allocation: 'SPLIT', max_winners: 1 }), 'INVALID_TERMS'],
    ['17 winners', () => ({ allocation: 'SPLIT', max_winners: 17 }), 'INVALID_TERMS'],
    ['no time at all', () => ({ duration_ms: undefined }), 'INVALID_SCHEDULE'],
    ['two ends', () => ({ closes_at: '2027-01-01T00:00:00.000000000Z' }), 'INVALID_SCHEDULE'],
    ['less than a second', () => ({ duration_ms: 999 }), 'INVALID_SCHEDULE'],
    ['more than a day', () => ({ duration_ms: 86_400_001 }), 'INVALID_SCHEDULE'],
    [
      'an end in the past',
      () => ({ duration_ms: undefined, closes_at: '2026-01-01T00:00:00.000000000Z' }),
      'INVALID_SCHEDULE',
    ],
    ['too hasty an execution', () => ({ execution_deadline_ms: 4_999 }), 'INVALID_TERMS'],
    ['too slow an execution', () => ({ execution_deadline_ms: 900_001 }), 'INVALID_TERMS'],
    ['a reference of 65 characters', () => ({ client_reference: 'r'.repeat(65) }), 'INVALID_TERMS'],
  ];
  it.each(table)('%s is refused, to the preflight as well', async (_name, differing, code) => {
    const body = goodCreate(scene, differing(scene));
    const answers = [
      await send({ by: ORIGINATOR, call: CREATE, body, gives: '' }),
      await send({ by: ORIGINATOR, call: 'POST /v1/auctions/preflight', body, gives: '' }),
    ];
    // What is short of capacity is the preflight's business to measure, not to refuse.
    const preflight = code === 'INSUFFICIENT_COLLATERAL' ? '200' : `422 ${code}`;
    expect(answers.map(verdict)).toEqual([`422 ${code}`, preflight]);
  });
});

describe('what a quote may offer', () => {
  const table: [string, Fields, string][] = [
    ['a price between the ticks', { price_atoms: 500_500 }, 'INVALID_PRICE_TICK'],
    ['no price', { price_atoms: 0 }, 'PRICE_OUT_OF_RANGE'],
    ['a whole dollar', { price_atoms: 1_000_000 }, 'PRICE_OUT_OF_RANGE'],
    ['a price out of range and off the grid', { price_atoms: 1_000_001 }, 'PRICE_OUT_OF_RANGE'],
    ['nothing', { quantity_atoms: 0 }, 'INVALID_QUANTITY_STEP'],
    ['half a step', { quantity_atoms: 1_500 }, 'INVALID_QUANTITY_STEP'],
    ['more than is asked for', { quantity_atoms: 11 * CONTRACT }, 'UNAUTHORIZED_SIZE'],
    ['less than its own minimum', { min_quantity_atoms: 2 * CONTRACT }, 'QUANTITY_BELOW_MINIMUM'],
    ['a long reference', { client_reference: 'r'.repeat(65) }, 'INVALID_TERMS'],
  ];
  it.each(table)('%s is refused', async (_name, differing, code) => {
    const answer = await send({ by: SECOND, call: SUBMIT, body: { ...terms, ...differing }, gives: '' });
    expect(verdict(answer)).toBe(`422 ${code}`);
  });
});
