import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer } from '#libs/client/api-client.js';
import type { ClusterContract } from '#libs/testing/cluster/cluster-file.js';
import type { AuctionJson, ErrorJson, QuoteJson } from '#libs/client/wire.js';
import {
  auctionBody,
  CONTRACT,
  routeOf,
  sharedFloor,
  type Trader,
  type TradingFloor,
  verdict,
} from '../trading-floor.js';

type Fields = Readonly<Record<string, unknown>>;

/** The objects that the rows refer to, made before the first row is sent. */
interface Scene {
  readonly contract: ClusterContract;
  /** Open, with one active quote of the maker. */
  readonly auction: AuctionJson;
  readonly quote: QuoteJson;
  readonly cancelled: AuctionJson;
  readonly cancelledQuote: QuoteJson;
  readonly groupId: string;
}

interface Row {
  /** An account by name; `a stranger` has no token. */
  readonly by: string;
  readonly call: string;
  readonly body?: Fields | ((scene: Scene) => Fields) | string | undefined;
  readonly key?: string | null;
  readonly gives: string;
}

const ORIGINATOR = 'the originator';
const MAKER = 'the maker';
/** Invited, without a quote. */
const SECOND = 'the second maker';
const OTHER_ORIGINATOR = 'another originator';
const UNRELATED = 'outsider-1';
const INCAPABLE = 'viewer-1';

let floor: TradingFloor;
let scene: Scene;
let people: ReadonlyMap<string, Trader>;

const goodCreate = ({ contract }: Scene, differing: Fields = {}): Fields =>
  auctionBody(contract, [], { audience: { market_maker_ids: [people.get(MAKER)!.accountId] }, ...differing });
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
  const [originator, maker, second, other] = await floor.newTraders(
    ...(['originator', 'maker', 'maker', 'originator'] as const),
  );
  const [outsider, viewer, operator] = await floor.traders(UNRELATED, INCAPABLE, 'operator-1');
  people = new Map([
    [ORIGINATOR, originator],
    [MAKER, maker],
    [SECOND, second],
    [OTHER_ORIGINATOR, other],
    [UNRELATED, outsider!],
    [INCAPABLE, viewer!],
    ['operator-1', operator!],
  ]);
  const contract = floor.contract('venue_c', 3);
  const open = (): Promise<AuctionJson> =>
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
  await people.get(ORIGINATOR)!.cancel(scene.auction.auction_id);
  floor.close();
});

/** Fills in `{auction}`, `{quote}` and other placeholders, and sends. */
function send({ by, call, body, key }: Row): Promise<ApiAnswer<ErrorJson>> {
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
  const api = by === 'a stranger' ? floor.anybody : people.get(by)!.api;
  const content = typeof body === 'function' ? body(scene) : body;
  return api.send<ErrorJson>(method, path, {
    ...(typeof content === 'string' ? { raw: content } : { body: content }),
    headers: key === null || method === 'GET' ? {} : { 'idempotency-key': key ?? randomUUID() },
  });
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
  ...keyRefusals(ORIGINATOR, CREATE, goodCreate),
  { by: INCAPABLE, call: CREATE, body: goodCreate, gives: '403 forbidden' },
  { by: MAKER, call: CREATE, body: goodCreate, gives: '422 PRINCIPAL_NOT_ENTITLED' },
];

const asked: readonly (readonly [string, (at: Scene) => Fields])[] = [
  ['INVALID_QUANTITY_STEP', () => ({ quantity_atoms: 10_000_500 })],
  ['UNAUTHORIZED_SIZE', () => ({ quantity_atoms: 9_000_000_000_000_000 })],
  ['INSUFFICIENT_COLLATERAL', () => ({ quantity_atoms: 90_000_000_000_000 })],
  ['INVALID_TERMS', () => ({ allocation: 'SPLIT', max_winners: 17 })],
  ['ROUTE_UNAVAILABLE', (at) => ({ routes: [{ ...routeOf(at.contract), contract_id: 'none' }] })],
  [
    'ROUTES_NOT_EQUIVALENT',
    (at) => ({ routes: [routeOf(at.contract), routeOf(floor.contract('venue_c', 4))] }),
  ],
  ['INVALID_PRICE_TICK', () => ({ limit_price_atoms: 500_500 })],
  ['PRICE_OUT_OF_RANGE', () => ({ limit_price_atoms: 1_000_000 })],
  ['INVALID_SCHEDULE', () => ({ duration_ms: 999 })],
  ['AUDIENCE_EMPTY', () => ({ audience: { market_maker_ids: [] } })],
  [
    'AUDIENCE_MEMBER_UNKNOWN',
    () => ({ audience: { market_maker_ids: [people.get(ORIGINATOR)!.accountId] } }),
  ],
  ['AUDIENCE_TOO_LARGE', () => ({ audience: { all_eligible: true } })],
  ['GROUP_UNKNOWN', () => ({ audience: { group_ids: [randomUUID()] } })],
];
const askedFor: Row[] = asked.flatMap(([code, differing]) =>
  [CREATE, 'POST /v1/auctions/preflight'].map((call) => ({
    by: ORIGINATOR,
    call,
    body: (at: Scene) => goodCreate(at, differing(at)),
    // A preflight measures missing capacity instead of refusing.
    gives: code === 'INSUFFICIENT_COLLATERAL' && call !== CREATE ? '200' : `422 ${code}`,
  })),
);

const offered: readonly (readonly [string, Fields])[] = [
  ['INVALID_PRICE_TICK', { price_atoms: 500_500 }],
  ['PRICE_OUT_OF_RANGE', { price_atoms: 1_000_000 }],
  ['INVALID_QUANTITY_STEP', { quantity_atoms: 1_500 }],
  ['UNAUTHORIZED_SIZE', { quantity_atoms: 11 * CONTRACT }],
  ['QUANTITY_BELOW_MINIMUM', { quantity_atoms: CONTRACT, min_quantity_atoms: 2 * CONTRACT }],
  ['INVALID_TERMS', { client_reference: 'r'.repeat(65) }],
];
const offers: Row[] = offered.flatMap(([code, differing]) => [
  { by: SECOND, call: SUBMIT, body: { ...terms, ...differing }, gives: `422 ${code}` },
  { by: MAKER, call: REVISE, body: { expected_revision: 1, ...differing }, gives: `422 ${code}` },
]);

const preflights: Row[] = [
  { by: ORIGINATOR, call: 'POST /v1/auctions/preflight', body: goodCreate, key: null, gives: '200' },
  { by: INCAPABLE, call: 'POST /v1/auctions/preflight', body: goodCreate, gives: '403 forbidden' },
  {
    by: ORIGINATOR,
    call: 'POST /v1/auctions/preflight',
    body: (at) => goodCreate(at, { quantity_atoms: 1 }),
    gives: '422 INVALID_QUANTITY_STEP',
  },
  { by: SECOND, call: CHECK, body: check, key: null, gives: '200' },
  { by: 'a stranger', call: CHECK, body: check, gives: '401 unauthorized' },
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
  { by: SECOND, call: CHECK, body: { ...check, price_atoms: 1_000_000 }, gives: '422 PRICE_OUT_OF_RANGE' },
  {
    by: SECOND,
    call: CHECK,
    body: { ...check, max_executable_quantity_atoms: 1_500 },
    gives: '422 INVALID_QUANTITY_STEP',
  },
  {
    by: SECOND,
    call: CHECK,
    body: { ...check, max_executable_quantity_atoms: 11 * CONTRACT },
    gives: '422 UNAUTHORIZED_SIZE',
  },
];

const commands: Row[] = [
  ...keyRefusals(SECOND, SUBMIT, terms),
  { by: INCAPABLE, call: SUBMIT, body: terms, gives: '403 forbidden' },
  { by: ORIGINATOR, call: SUBMIT, body: terms, gives: '403 forbidden' },
  { by: UNRELATED, call: SUBMIT, body: terms, gives: '404 auction_not_found' },
  { by: SECOND, call: 'POST /v1/auctions/3{auction}/quotes', body: terms, gives: '400 invalid_auction_id' },
  { by: MAKER, call: SUBMIT, body: terms, gives: '409 quote_already_active' },
  { by: SECOND, call: 'POST /v1/auctions/{cancelled}/quotes', body: terms, gives: '422 AUCTION_NOT_OPEN' },
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
  ...keyRefusals(ORIGINATOR, CANCEL, {}),
  { by: MAKER, call: CANCEL, body: {}, gives: '403 forbidden' },
  { by: UNRELATED, call: CANCEL, body: {}, gives: '404 auction_not_found' },
  { by: INCAPABLE, call: CANCEL, body: {}, gives: '403 forbidden' },
  { by: ORIGINATOR, call: 'POST /v1/auctions/{cancelled}/cancel', body: {}, gives: '422 AUCTION_NOT_OPEN' },
  { by: ORIGINATOR, call: 'POST /v1/auctions/x/cancel', body: {}, gives: '400 invalid_auction_id' },
  ...keyRefusals(SECOND, 'POST /v1/quotes/withdraw-all', {}),
  { by: SECOND, call: 'POST /v1/quotes/withdraw-all', body: {}, gives: '200' },
  {
    by: SECOND,
    call: 'POST /v1/quotes/withdraw-all',
    body: { auction_ids: [`3${randomUUID().slice(1)}`] },
    gives: '400 invalid_json',
  },
  {
    by: SECOND,
    call: 'POST /v1/quotes/withdraw-all',
    body: { auction_ids: Array.from({ length: 257 }, () => `0${randomUUID().slice(1)}`) },
    gives: '422 INVALID_TERMS',
  },
  { by: INCAPABLE, call: 'POST /v1/quotes/withdraw-all', body: {}, gives: '403 forbidden' },
  { by: ORIGINATOR, call: CANCEL, body: { reason: 'r'.repeat(257) }, gives: '422 INVALID_TERMS' },
];

const reads: Row[] = [
  ...['GET /v1/auctions', 'GET /v1/auctions/{auction}', 'GET /v1/auctions/{auction}/events'].flatMap(
    (call) => [
      { by: 'a stranger', call, gives: '401 unauthorized' },
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
  { by: 'a stranger', call: 'GET /v1/quotes', gives: '401 unauthorized' },
  { by: 'a stranger', call: 'GET /healthz', gives: '200' },
  { by: 'a stranger', call: 'GET /readyz', gives: '200' },
  { by: 'a stranger', call: 'GET /.well-known/jwks.json', gives: '200' },
  { by: 'a stranger', call: 'GET /nowhere', gives: '404 not_found' },
  { by: 'a stranger', call: 'GET /v1/nowhere', gives: '401 unauthorized' },
  { by: MAKER, call: 'GET /v1/nowhere', gives: '404 not_found' },
  { by: MAKER, call: 'PATCH /v1/auctions', gives: '405 method_not_allowed' },
  { by: 'a stranger', call: 'POST /healthz', gives: '405 method_not_allowed' },
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
    { by: 'a stranger', call: `GET ${path}`, gives: '401 unauthorized' },
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
  { by: 'a stranger', call: 'POST /auth/refresh', body: { token: 'x' }, gives: '400 invalid_json' },
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
    by: OTHER_ORIGINATOR,
    call: 'PUT /v1/groups/{group}',
    body: { name: 'x', market_maker_ids: [] },
    gives: '404 not_found',
  },
  { by: OTHER_ORIGINATOR, call: 'DELETE /v1/groups/{group}', gives: '404 not_found' },
  { by: ORIGINATOR, call: 'DELETE /v1/groups/{unknown}', gives: '404 not_found' },
  { by: ORIGINATOR, call: 'DELETE /v1/groups/nonsense', gives: '400 invalid_request' },
  {
    by: 'a stranger',
    call: 'POST /auth/login',
    body: { email: 'maker-5@demo.sotto', password: 'wrong' },
    gives: '401 unauthorized',
  },
  {
    by: 'a stranger',
    call: 'POST /auth/login',
    body: { email: 'maker-5@demo.sotto' },
    gives: '400 invalid_json',
  },
  { by: 'a stranger', call: 'POST /auth/refresh', gives: '401 unauthorized' },
  { by: 'a stranger', call: 'POST /auth/logout', gives: '401 unauthorized' },
  { by: 'a stranger', call: 'POST /auth/logout-all', gives: '401 unauthorized' },
];

/** Only 409 and 422, which come from the engine, and the 401 of the quote preflight have a message. */
function mayExplain(row: Row, { status }: ApiAnswer<ErrorJson>): boolean {
  return status === 409 || status === 422 || (status === 401 && row.call === CHECK);
}

it.each([
  ['a create', creates],
  ['what a create asks for', askedFor],
  ['what a quote offers', offers],
  ['a preflight', preflights],
  ['a command', commands],
  ['a read', reads],
  ['the account', account],
])('%s is refused as documented', async (_, table) => {
  const answers = await Promise.all(table.map((row) => send(row)));
  const told = answers.map((answer, index) => [table[index]!.by, table[index]!.call, verdict(answer)]);
  expect(told).toEqual(table.map(({ by, call, gives }) => [by, call, gives]));
  for (const [index, answer] of answers.entries()) {
    expect(answer.headers['x-request-id']).toMatch(/./);
    if (answer.status < 400) continue;
    const fields = mayExplain(table[index]!, answer) ? ['error', 'message'] : ['error'];
    expect(Object.keys(answer.body).sort()).toEqual(fields);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
  }
});
