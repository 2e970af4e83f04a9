import { z } from 'zod';
import { deltaText, priceText, sizeText, timeText } from '../decimals.js';

/** The fields that we read from the venue's published records; others are ignored. A body without one of these is not valid. */

const id = z.string().min(1).max(128);
const cursor = z.string().max(1_024);

export const bandShape = z.object({ start: priceText, end: priceText, step: priceText });

export const marketShape = z.object({
  ticker: id,
  event_ticker: id,
  market_type: z.enum(['binary', 'scalar']),
  title: z.string().optional(),
  yes_sub_title: z.string(),
  no_sub_title: z.string(),
  status: z.enum([
    'initialized',
    'inactive',
    'active',
    'closed',
    'determined',
    'disputed',
    'amended',
    'finalized',
  ]),
  created_time: timeText,
  updated_time: timeText,
  open_time: timeText,
  close_time: timeText,
  latest_expiration_time: timeText,
  last_price_dollars: priceText,
  volume_fp: sizeText.optional(),
  yes_bid_dollars: priceText,
  yes_ask_dollars: priceText,
  result: z.enum(['yes', 'no', 'scalar', '']),
  settlement_value_dollars: priceText.optional(),
  settlement_ts: timeText.nullish(),
  rules_primary: z.string(),
  rules_secondary: z.string(),
  price_level_structure: z.string(),
  price_ranges: z.array(bandShape).max(1_000),
});
export type MarketOfB = z.infer<typeof marketShape>;

export const oneMarket = z.object({ market: marketShape });
export const marketPage = z.object({ markets: z.array(marketShape), cursor });

const side = z.enum(['yes', 'no']);

export const tradeShape = z
  .object({
    trade_id: id,
    ticker: id,
    count_fp: sizeText,
    yes_price_dollars: priceText,
    no_price_dollars: priceText,
    /** The former name of `taker_outcome_side`. */
    taker_side: side.optional(),
    taker_outcome_side: side.optional(),
    created_time: timeText,
  })
  .refine(
    ({ taker_side: old, taker_outcome_side: now }) => (now ?? old) !== undefined,
    'it has no taker_side',
  );
export type TradeOfB = z.infer<typeof tradeShape>;

export const tradePage = z.object({ trades: z.array(tradeShape), cursor });

const levels = z.array(z.tuple([priceText, sizeText]));
const bookShape = z.object({ yes_dollars: levels, no_dollars: levels });
export type BookOfB = z.infer<typeof bookShape>;

export const bookPage = z.object({
  orderbooks: z.array(z.object({ ticker: id, orderbook_fp: bookShape })),
});

const numbered = { sid: z.int(), seq: z.int() };
const millis = z.number().int().optional();

/** Frames of the socket. */
export const frameShape = z.discriminatedUnion('type', [
  z.object({ type: z.literal('subscribed'), msg: z.object({ channel: z.string(), sid: z.int() }) }),
  z.object({ type: z.enum(['unsubscribed', 'ok']) }),
  z.object({ type: z.literal('error'), msg: z.object({ code: z.int(), msg: z.string().optional() }) }),
  z.object({
    ...{ type: z.literal('orderbook_snapshot'), ...numbered },
    msg: z.object({
      market_ticker: id,
      yes_dollars_fp: levels.optional(),
      no_dollars_fp: levels.optional(),
    }),
  }),
  z.object({
    ...{ type: z.literal('orderbook_delta'), ...numbered },
    msg: z.object({ market_ticker: id, price_dollars: priceText, side, delta_fp: deltaText, ts_ms: millis }),
  }),
  z.object({ type: z.literal('trade'), ...numbered, msg: z.object({ market_ticker: id }) }),
  z.object({ type: z.literal('market_lifecycle_v2'), ...numbered, msg: z.object({ market_ticker: id }) }),
]);
export type FrameOfB = z.infer<typeof frameShape>;
