import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_SECRET, wrongTriple, type RequestHeaders } from '#libs/testing/data/data-callers.js';
import { DataWorld, type WorldRequest, type WorldReply } from '#libs/testing/data/data-world.js';

let world: DataWorld;
let session: RequestHeaders;
let stranger: RequestHeaders;
let key: RequestHeaders;
let bare: RequestHeaders;
let listed: RequestHeaders;
beforeAll(async () => {
  world = await DataWorld.open({ limitsFactor: 1_000 });
  const { callers } = world;
  session = await callers.session();
  stranger = await callers.session(await callers.user({ isInvited: false }));
  key = await callers.key(['trade:read']);
  bare = await callers.key([]);
  listed = await callers.key(['trade:read'], { addresses: ['127.0.0.7'] });
});
afterAll(() => world.close());
afterEach(() => {
  expect(world.faults).toEqual([]);
});

const admin: RequestHeaders = { 'x-admin-secret': ADMIN_SECRET };
const detailOf = ({ status, body }: WorldReply): string => `${status} ${JSON.stringify(body)}`;
const REQUIRED = '401 {"detail":"Authentication required (JWT token / API key / admin secret)"}';
const LARGE = '413 {"detail":"Request body too large"}';
const NOT_FOUND = '404 {"detail":"Not Found"}';
const tooLarge = Buffer.alloc(1_048_577, 0x20);

/** Each row breaks this rule and all rules after it. */
describe('the order of checks', () => {
  const ROWS: readonly (readonly [
    what: string,
    path: string,
    request: () => WorldRequest,
    expected: string,
  ])[] = [
    ['an unknown path', '/markets/nothing', () => ({ method: 'POST', body: tooLarge }), NOT_FOUND],
    [
      'another method',
      '/markets/details',
      () => ({ method: 'PATCH', body: tooLarge }),
      '405 {"detail":"Method Not Allowed"}',
    ],
    ['a body over the limit', '/markets/details', () => ({ method: 'POST', body: tooLarge }), LARGE],
    ['no credentials', '/markets/details', () => ({ method: 'POST', body: '[' }), REQUIRED],
    [
      'a key from another address',
      '/markets/details',
      () => ({ method: 'POST', headers: listed, body: '[' }),
      '403 {"detail":"IP address not allowed"}',
    ],
    [
      'a session without an invite',
      '/markets/details',
      () => ({ method: 'POST', headers: stranger, body: '[' }),
      '403 {"detail":"Invite required"}',
    ],
    [
      'a key without the scope',
      '/trades/history?provider=x&limit=x',
      () => ({ headers: bare }),
      '403 {"detail":"Missing required scope: trade:read"}',
    ],
    [
      'a key of another address without the scope',
      '/trades/history',
      () => ({ headers: listed }),
      '403 {"detail":"IP address not allowed"}',
    ],
    [
      'a body that cannot be read',
      '/markets/details',
      () => ({ method: 'POST', headers: session, body: '[' }),
      '422 {"detail":[{"type":"json_invalid","loc":["body"],"msg":"It must be one JSON object","input":null}]}',
    ],
    [
      'a query that cannot be read, with an unknown provider',
      '/markets/metadata?provider=x',
      () => ({ headers: bare }),
      '422 {"detail":[{"type":"missing","loc":["query","ticker"],"msg":"It is required","input":null}]}',
    ],
    [
      'an unknown provider',
      '/markets/metadata?provider=%20X&ticker=a',
      () => ({ headers: bare }),
      '400 {"detail":"Unknown provider:  X"}',
    ],
    ['tick sizes have moved', '/markets/tick-size', () => ({}), '410'],
  ];

  it.each(ROWS)('%s', async (_what, path, request, expected) => {
    expect(detailOf(await world.ask(path, request()))).toContain(expected);
  });
});

describe('the caller', () => {
  const metadata = '/markets/metadata?provider=venue_a&ticker=none';
  const verdict = async (headers: RequestHeaders, from?: string): Promise<string> =>
    detailOf(await world.ask(metadata, { headers, ...(from === undefined ? {} : { from }) }));
  const FOUND = '404 {"detail":"Market metadata not found: none"}';

  it('is accepted by key, session, cookie or admin secret', async () => {
    const cookie = { cookie: `a=b; custody_session_jwt=${session.authorization?.slice(7) ?? ''}` };
    for (const headers of [session, key, bare, admin, cookie]) expect(await verdict(headers)).toBe(FOUND);
    expect(await verdict(listed, '127.0.0.7')).toBe(FOUND);
  });

  it('a wrong admin secret is ignored, and the session counts', async () => {
    expect(await verdict({ 'x-admin-secret': 'wrong' })).toBe(REQUIRED);
    expect(await verdict({ 'x-admin-secret': 'wrong', ...session })).toBe(FOUND);
    expect(await verdict({ ...admin, ...stranger })).toBe(FOUND);
  });

  it('with a client id, even an empty one, only the key counts', async () => {
    const partial = '401 {"detail":"X-Api-Key and X-Api-Secret required with X-Client-Id"}';
    expect(await verdict({ 'x-client-id': '', ...session, ...admin })).toBe(partial);
    expect(await verdict({ 'x-client-id': 'x', 'x-api-key': 'y' })).toBe(partial);
    expect(await verdict({ 'x-api-key': 'y', 'x-api-secret': 'z' })).toBe(REQUIRED);
    expect(await verdict({ ...wrongTriple(), ...session }, '127.0.0.9')).toBe(
      '401 {"detail":"Invalid API credentials"}',
    );
  });
});
