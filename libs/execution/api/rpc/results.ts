import { uuid } from '#libs/edge/decoding/decode-scalars.js';
import { named } from '#libs/edge/documents/components.js';
import {
  anyText,
  flag,
  integerFrom,
  listOf,
  optional,
  record,
  type Shape,
} from '#libs/edge/documents/shapes.js';
import {
  anything,
  decimal,
  fill,
  kind,
  market,
  mode,
  oneOfWords,
  side,
  tif,
  time,
  venue,
} from '../record-shapes.js';

/** The results of procedures, and the codes of their further refusals. */
export const OF_CELL = { 503: ['CELL_UNAVAILABLE'] };
export const OF_VENUE = { 503: ['EXCHANGE_UNAVAILABLE'] };
export const OF_SIGNER = { 503: ['SIGNER_UNAVAILABLE', 'EXCHANGE_UNAVAILABLE'] };
export const MARKET = { 404: ['VALIDATION_MARKET_NOT_FOUND'], ...OF_VENUE };
export const RECONCILING = { 404: ['ORDER_NOT_FOUND'], ...OF_CELL };
export const MOVING = {
  409: ['INSUFFICIENT_BALANCE', 'INSUFFICIENT_POSITION', 'EXCHANGE_NOT_LINKED', 'IDEMPOTENCY_KEY_CONFLICT'],
  503: ['CELL_UNAVAILABLE', 'EXCHANGE_UNAVAILABLE'],
};
export const LINKING = { 503: ['EXCHANGE_UNAVAILABLE', 'SIGNER_UNAVAILABLE', 'CELL_UNAVAILABLE'] };

const domain = oneOfWords('vault', 'chain', 'kalshi_usd');

export const balancesResult = named(
  'Balances',
  record({
    balances: listOf(
      record({
        ...{ custodyDomain: domain, chainId: optional(anyText), exchangeId: optional(venue) },
        ...{ walletAddress: optional(anyText), asset: anyText, value: decimal, held: decimal },
        ...{ inTransit: decimal, available: flag, asOf: time },
        shards: optional(listOf(record({ shard: integerFrom(0), value: decimal }))),
      }),
    ),
    degraded: flag,
    degradedReads: listOf(record({ leg: anyText, reason: anyText })),
  }),
);

export const entriesResult = named(
  'LedgerEntries',
  record({
    entries: listOf(
      record({
        ...{ entryId: anyText, transactionId: anyText, cause: record({ kind: anyText, id: anyText }) },
        ...{ domain, exchangeId: optional(venue), asset: anyText, amount: decimal, recordedAt: time },
        account: oneOfWords('available', 'held', 'in_transit', 'position', 'fee', 'external'),
      }),
    ),
    nextAfter: optional(anyText),
  }),
);

export const fillsResult = record({ fills: listOf(fill), nextAfter: optional(anyText) });
export const marketsResult = record({ markets: listOf(market), nextAfter: optional(anyText) });

export const transferResult = named(
  'Transfer',
  record({
    ...{ transferId: uuid, status: oneOfWords('PENDING', 'IN_TRANSIT', 'COMPLETED', 'FAILED') },
    ...{ exchangeId: venue, asset: anyText, amount: decimal, from: domain, to: domain },
    ...{ reference: optional(anyText), createdAt: time, completedAt: optional(time) },
    failure: optional(anything),
  }),
);
export const transfersResult = record({ transfers: listOf(transferResult), nextAfter: optional(anyText) });
export const linkResult = record({ exchangeId: venue, tradingLinked: flag, linkedAt: optional(time) });

const place = {
  ...{ exchangeId: optional(venue), side: optional(side), kind: optional(kind) },
  timeInForce: optional(tif),
};
const switched = {
  ...{ ...place, userId: optional(uuid), mode, since: time, resumesAt: optional(time) },
};
export const switchSet = record({ ...switched, reason: anyText });
export const switchesResult = record({ switches: listOf(record(switched)) });
export const breakersReset = record({ ...place, reason: anyText });
export const accessSet = record({
  exchangeId: venue,
  enabled: { describe: () => ({ type: ['boolean', 'null'] }) },
  reason: anyText,
});
const secret: Shape = { describe: () => ({ type: 'string', pattern: '^[0-9a-f]{64}$' }) };
export const keyGranted = record({
  ...{ clientId: anyText, apiKey: secret, apiSecret: secret, scopes: listOf(anyText) },
});
export const keyRevoked = record({ clientId: anyText, reason: anyText });

export const reportResult = record({
  differences: listOf(
    record({
      ...{ userId: anyText, exchangeId: venue, asset: anyText, ledger: decimal, venue: decimal, since: time },
    }),
  ),
  doubts: listOf(record({ orderId: uuid, since: time, stalled: flag })),
  asOf: time,
});
export const reservesResult = record({
  rows: listOf(
    record({
      ...{ exchangeId: venue, asset: anyText, owed: decimal, issued: decimal, inTransit: decimal },
      ...{ observed: decimal, difference: decimal },
    }),
  ),
  asOf: time,
});
export const signerResult = record({ keys: integerFrom(0), signatures: integerFrom(0), asOf: time });
