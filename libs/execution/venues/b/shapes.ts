import { z } from 'zod';
import { VenueUnavailable } from '../port.js';
import { fixedPoint } from './amounts.js';

/** The fields that the adapter reads from the venue's replies. It ignores all others. */

const cursor = z.string().nullish();

export const createdOrder = z.object({
  order_id: z.string().min(1),
  fill_count: fixedPoint,
  remaining_count: fixedPoint,
  /** Only practice venues say why the remainder does not rest. */
  cancel_reason: z.string().nullish(),
});

export const amendedOrder = z.object({
  order_id: z.string().min(1),
  fill_count: fixedPoint.nullish(),
  remaining_count: fixedPoint.nullish(),
  /** Only practice venues say why the order does not rest at its new price. */
  cancel_reason: z.string().nullish(),
});

export const cancelledOrder = z.object({ order_id: z.string().min(1), reduced_by: fixedPoint });

const cancelledRow = z.object({
  order_id: z.string(),
  reduced_by: fixedPoint,
  error: z.object({}).loose().nullish(),
});
export type CancelledRow = z.output<typeof cancelledRow>;
export const cancelledOrders = z.object({ orders: z.array(cancelledRow) });

const direction = {
  /** From older interfaces. No other field says which outcome was bought or sold. */
  side: z.enum(['yes', 'no']).nullish(),
  action: z.enum(['buy', 'sell']).nullish(),
  outcome_side: z.enum(['yes', 'no']).nullish(),
};

export const bOrder = z.object({
  ...direction,
  order_id: z.string().min(1),
  client_order_id: z.string().nullish(),
  ticker: z.string().min(1),
  status: z.enum(['resting', 'canceled', 'executed']),
  yes_price_dollars: fixedPoint,
  fill_count_fp: fixedPoint,
  remaining_count_fp: fixedPoint,
  initial_count_fp: fixedPoint,
  expiration_time: z.string().nullish(),
  last_update_time: z.string().nullish(),
  cancel_reason: z.string().nullish(),
});
export type BOrder = z.infer<typeof bOrder>;

export const oneOrder = z.object({ order: bOrder });
export const orderPage = z.object({ orders: z.array(bOrder), cursor });

export const bFill = z.object({
  ...direction,
  trade_id: z.string().min(1),
  order_id: z.string().min(1),
  client_order_id: z.string().nullish(),
  ticker: z.string().min(1),
  count_fp: fixedPoint,
  yes_price_dollars: fixedPoint,
  is_taker: z.boolean(),
  created_time: z.string(),
  fee_cost: fixedPoint.nullish(),
});
export type BFill = z.infer<typeof bFill>;
export const fillPage = z.object({ fills: z.array(bFill), cursor });

export const bBalance = z.object({
  balance_dollars: fixedPoint,
  balance_breakdown: z
    .array(
      z.object({
        exchange_index: z.int(),
        balance: fixedPoint,
        /** Only practice venues report the total including what is reserved for resting orders. */
        total_balance: fixedPoint.nullish(),
      }),
    )
    .nullish(),
});

export const positionPage = z.object({
  market_positions: z.array(
    z.object({
      ticker: z.string(),
      position_fp: fixedPoint,
      /** Only practice venues report both sides of a pair while one side is reserved for a sale. */
      yes_fp: fixedPoint.nullish(),
      no_fp: fixedPoint.nullish(),
    }),
  ),
  cursor,
});

export const bMarket = z.object({
  ticker: z.string().min(1),
  title: z.string().nullish(),
  status: z.string(),
  close_time: z.string(),
  exchange_index: z.int().nullish(),
  /** Only practice venues send it. */
  contract_id: z.string().nullish(),
  neg_risk: z.boolean().nullish(),
  price_ranges: z.array(z.object({ start: fixedPoint, end: fixedPoint, step: fixedPoint })).nullish(),
});
export const oneMarket = z.object({ market: bMarket });
export const marketPage = z.object({ markets: z.array(bMarket), cursor });

const level = z.tuple([fixedPoint, fixedPoint]);
export const bBook = z.object({
  orderbook_fp: z.object({
    yes_dollars: z.array(level).nullish(),
    no_dollars: z.array(level).nullish(),
  }),
});

export const bStatus = z.object({ exchange_active: z.boolean(), trading_active: z.boolean() });

export const depositPage = z.object({
  deposits: z.array(
    z.object({ id: z.string(), status: z.string(), amount_cents: z.int(), created_ts: z.number() }),
  ),
  cursor,
});

export const settlementPage = z.object({
  settlements: z.array(
    z.object({
      ticker: z.string(),
      exchange_index: z.int().nullish(),
      market_result: z.string(),
      yes_count_fp: fixedPoint,
      no_count_fp: fixedPoint,
      /** Cents paid for one share of Yes. */
      value: z.number().nullish(),
      settled_time: z.string(),
    }),
  ),
  cursor,
});

export const shardTransferPage = z.object({
  transfers: z.array(
    z.object({
      transfer_id: z.string(),
      source_exchange_shard: z.int(),
      destination_exchange_shard: z.int(),
      amount: fixedPoint,
      created_ts: z.number(),
    }),
  ),
  cursor,
});

/** Only practice venues list pair payments. Elsewhere they show in balance and positions. */
export const pairPage = z.object({
  pair_payments: z.array(
    z.object({
      id: z.string(),
      ticker: z.string(),
      exchange_index: z.int(),
      count_fp: fixedPoint,
      amount_dollars: fixedPoint,
      created_time: z.string(),
    }),
  ),
  cursor,
});

/** A transfer between accounts. Only practice venues have them. */
export const accountTransfer = z.object({
  client_transfer_id: z.string(),
  from_account: z.string(),
  to_account: z.string(),
  amount_dollars: fixedPoint,
  created_ts: z.number(),
});
export const accountTransferPage = z.object({ transfers: z.array(accountTransfer), cursor });
export const oneAccountTransfer = z.object({ transfer: accountTransfer });

const errorBody = z.object({ code: z.string(), message: z.string().nullish() });
/** An error of the venue: as published, or wrapped in `error` as some answers have it. */
export const refusal = z.union([errorBody, z.object({ error: errorBody }).transform(({ error }) => error)]);

/** Throws `VenueUnavailable` if the reply has an unexpected form. */
export function readAs<Shape>(shape: z.ZodType<Shape>, body: unknown): Shape {
  const read = shape.safeParse(body);
  if (!read.success) throw new VenueUnavailable('the answer has another form');
  return read.data;
}
