import { object } from '#libs/edge/decoding/decode.js';
import { enumOf } from '#libs/edge/decoding/decode-scalars.js';
import { orderCaller } from '../caller.js';
import { venueOfOrder } from '../cells.js';
import { refuse, wrongField } from '../refusals.js';
import { present } from '../present.js';
import { anyId, exchange, limit, USUAL_LIMIT, uuidText } from './inputs.js';
import { marketRecord } from './market-record.js';
import { procedure, type Procedure } from './procedure.js';
import { entriesResult, fillsResult, MARKET, marketsResult, OF_VENUE, RECONCILING } from './results.js';
import { market, order } from '../record-shapes.js';

const CODE = 'VALIDATION_INVALID_PARAMETER';

/** Reads of fills, the ledger and markets, and the reconciliation of one order. */
export function readingProcedures(): readonly Procedure[] {
  return [
    procedure(
      {
        ...{ name: 'orders.fills', kind: 'query', access: 'read' },
        result: fillsResult,
        summary: "The caller's fills in the order of booking, including fills without an order",
      },
      object({ optional: { orderId: uuidText, exchangeId: exchange, marketId: anyId, after: anyId, limit } }),
      async ({ caller, input, parts }) => {
        const { reads } = parts.opened;
        const { orderId: order_id, exchangeId: exchange_id, marketId: market_id, after } = input;
        const selection = present({ order_id, exchange_id, market_id, after });
        const page = await reads.fills.page(caller.user_id, {
          ...selection,
          limit: input.limit ?? USUAL_LIMIT,
        });
        if (page === 'no such fill') throw wrongField(CODE, 'after', 'after is no mark of this list');
        const { fills, next_after: nextAfter } = page;
        return { fills, ...present({ nextAfter }) };
      },
    ),
    procedure(
      {
        ...{ name: 'ledger.entries', kind: 'query', access: 'position:read' },
        result: entriesResult,
        summary: "The caller's entries in the ledger, oldest first",
      },
      object({
        optional: { asset: anyId, domain: enumOf(['vault', 'chain', 'kalshi_usd']), after: anyId, limit },
      }),
      async ({ caller, input, parts }) => {
        const { reads } = parts.opened;
        const { asset, domain, after } = input;
        const selection = present({ asset, domain, after });
        const page = await reads.ledger.entries(caller.user_id, {
          ...selection,
          limit: input.limit ?? USUAL_LIMIT,
        });
        if (page === 'no such entry') throw wrongField(CODE, 'after', 'after is no mark of this list');
        return page;
      },
    ),
    ...marketProcedures(),
    procedure(
      {
        ...{ name: 'orders.reconcile', kind: 'mutation', access: 'trade' },
        result: order,
        statuses: RECONCILING,
        summary: 'Query the venue about an order now',
      },
      object({ required: { orderId: uuidText } }),
      async ({ caller, requestId, parts, input: { orderId: order_id } }) => {
        if (venueOfOrder(order_id) === undefined) throw refuse('ORDER_NOT_FOUND', 'You have no such order');
        return parts.cells.told<'orders_reconcile'>({
          ...orderCaller(caller, requestId),
          ...{ op: 'orders_reconcile', order_id },
        });
      },
    ),
  ];
}

function marketProcedures(): readonly Procedure[] {
  return [
    procedure(
      {
        name: 'markets.get',
        kind: 'query',
        access: 'read',
        result: market,
        statuses: MARKET,
        summary: 'A market by any form of its id',
      },
      object({ required: { exchangeId: exchange, marketId: anyId } }),
      async ({ input: { exchangeId, marketId }, parts: { venues } }) => {
        if (!venues.has(exchangeId)) throw unregistered();
        return marketRecord(await venues.market(exchangeId, marketId));
      },
    ),
    procedure(
      {
        name: 'markets.list',
        kind: 'query',
        access: 'read',
        result: marketsResult,
        statuses: OF_VENUE,
        summary: 'The markets of a venue',
      },
      object({ required: { exchangeId: exchange }, optional: { after: anyId, limit } }),
      async ({ input: { exchangeId, after, limit: most = USUAL_LIMIT }, parts: { venues } }) => {
        if (!venues.has(exchangeId)) throw unregistered();
        const listed = await venues.asked(() => venues.of(exchangeId).list(after, most + 1));
        const shown = listed.slice(0, most);
        const nextAfter = listed.length > most ? shown.at(-1)?.market_id : undefined;
        return { markets: shown.map(marketRecord), ...present({ nextAfter }) };
      },
    ),
  ];
}

export function unregistered(): ReturnType<typeof wrongField> {
  return wrongField(CODE, 'exchangeId', 'exchangeId must be a registered exchange');
}
