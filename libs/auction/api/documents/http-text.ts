import type { Tag } from '#libs/edge/documents/openapi-types.js';
import { ACCOUNT_LIMITS, QUOTE_PER_AUCTION_LIMIT } from '#libs/auction/protocol/protocol.js';
import type { BucketLimit } from '#libs/shard/tokens/buckets.js';

const rate = (name: string, scope: string, { rate_per_second: perSecond, burst }: BucketLimit): string =>
  `| \`${name}\` | ${scope} | ${perSecond} | ${burst} |`;

const BUCKETS = [
  ...Object.entries(ACCOUNT_LIMITS).map(([name, limit]) => rate(name, 'account', limit)),
  rate('quote_per_auction', 'account and auction', QUOTE_PER_AUCTION_LIMIT),
].join('\n');

/** The introduction: what holds for every call. */
export const INTRODUCTION = `Private first-price sealed-bid auctions of prediction-market contracts. An originator opens an auction for makers of its choice,
they answer with firm quotes that no other maker sees, and at the close the best price wins.

## Conventions

- JSON in UTF-8, read strictly: no \`null\`, no repeated or unknown field, nothing after the object, at most 64 levels and 1 MiB.
  A field that does not apply, or that the caller may not see, is absent.
- Prices, quantities and notionals are integer atoms from 0 to 2^53-1. One contract is 1,000,000 quantity atoms, one dollar 1,000,000
  collateral atoms, and a price is collateral atoms per contract.
- Times are RFC 3339 in UTC with nine fraction digits, by the clock of the service. Ids are lower-case UUIDs.
- HEAD is answered like GET, without the body. Every answer carries \`X-Request-Id\`.
- Examples are whole answers of a cluster with default settings. Its keys no longer exist. The bundle, the tokens and the keys
  belong together: \`npm run replay\` accepts the bundle, and the keys verify the tokens. Refusals come from other clusters.

## Order of checks

Internal header 403, token 401, path 404, method 405, capability 403, content type and encoding 415, size 413, ids and query 400, body 400,
idempotency key 400, visibility 404, role on the auction 403, repeat of an earlier call, token bucket 429, pauses 503, engine 409 and 422.
The first that fails answers. Every path under \`/v1\` wants a token, whether it exists or not. What a caller may not see and what does not exist
give the same 404.

## Errors

A flat object \`{"error": code}\`, with a \`message\` where the engine refuses (409 and 422). Codes are stable; messages are for
people, may change, and must not be parsed.

## Repeating a call

Create, cancel and every change of a quote want an idempotency key, in the header \`Idempotency-Key\`, in the body as \`idempotency_key\`, or
in both if they are equal: 1 to 128 of \`A-Z a-z 0-9 . _ : -\`. It is unique within account, operation and auction. The same key with the
same content gets the first answer again, with 200 instead of 201, and costs no token; with other content it is
\`idempotency_key_conflict\`. A 422 is stored and repeated too; 409, 429 and 5xx are not, so then the same call may be sent
again with the same key. Keys live as long as the auction plus 30 days.

## Rate limits

Only commands are metered, by token buckets. An empty bucket is 429 \`auction_mutation_rate_limited\`, without headers: back off
and repeat with the same key. \`GET /v1/me/limits\` shows what is left.

| Bucket | Per | A second | Burst |
| - | - | - | - |
${BUCKETS}

The live side, \`GET /v1/stream\`, is described in \`/asyncapi.json\`.`;

export const TAGS: readonly Tag[] = [
  { name: 'Sessions', description: 'Log in, renew the session, log out.' },
  { name: 'Auctions', description: 'Open, watch and cancel auctions.' },
  { name: 'Quotes', description: 'Answer an auction with a firm quote, change it, withdraw it.' },
  { name: 'Account', description: 'Who the caller is, its limits and its protection.' },
  { name: 'Reference', description: 'Contracts for auctions, and makers that may be invited.' },
  { name: 'Stream', description: 'The live side; see `/asyncapi.json`.' },
  {
    name: 'Auditors',
    description: 'Completed auctions under pseudonyms. To everyone else these paths do not exist.',
  },
  { name: 'Operators', description: 'Running the service. To everyone else these paths do not exist.' },
  { name: 'Health', description: 'The health of this gateway.' },
  { name: 'Documents', description: 'This description, as JSON and as a page.' },
];

/** The first match counts. */
const TAG_OF_PATH: readonly (readonly [RegExp, string])[] = [
  [/^\/(?:auth|\.well-known)\//, 'Sessions'],
  [/^\/v1\/audit\b/, 'Auditors'],
  [/^\/v1\/ops\b/, 'Operators'],
  [/^\/v1\/stream$/, 'Stream'],
  [/^\/v1\/(?:quotes\b|auctions\/.*\/quotes\b)/, 'Quotes'],
  [/^\/v1\/auctions\b/, 'Auctions'],
  [/^\/v1\/me\b/, 'Account'],
  [/^\/v1\/(?:contracts|market-makers|groups)\b/, 'Reference'],
  [/^\/(?:healthz|readyz)$/, 'Health'],
  [/^\/(?:execution\/)?(?:docs|openapi\.json|asyncapi\.json)$/, 'Documents'],
];

export function tagOfPath(path: string): string {
  const found = TAG_OF_PATH.find(([pattern]) => pattern.test(path));
  if (found === undefined) throw new Error(`no tag matches ${path}`);
  return found[1];
}
