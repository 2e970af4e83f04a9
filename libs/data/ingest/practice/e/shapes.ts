import { z } from 'zod';
import { millisTime, priceText, sizeText } from '../decimals.js';

/** The fields that we read from the venue's published records. They also tell who traded, which is ignored. */

const outcomeNumber = z.int().min(0).max(100_000_000_000);
const coin = z.string().regex(/^#\d{1,13}[01]$/, 'it is not a side of an outcome');

export const outcomeShape = z.object({
  outcome: outcomeNumber,
  name: z.string().min(1),
  description: z.string(),
  sideSpecs: z.array(z.object({ name: z.string().min(1) })).length(2),
  quoteToken: z.string(),
});
export type OutcomeOfE = z.infer<typeof outcomeShape>;

export const outcomeMeta = z.object({ outcomes: z.array(outcomeShape) });

const settledShape = z.object({ spec: outcomeShape, settleFraction: priceText });
export type SettledOfE = z.infer<typeof settledShape>;
export const settledList = z.array(settledShape);
export const oneSettled = settledShape.nullable();

export const tradeShape = z.object({
  coin,
  side: z.enum(['A', 'B']),
  px: priceText,
  sz: sizeText,
  time: millisTime,
  hash: z.string(),
  tid: z.int().min(0),
});
export type TradeOfE = z.infer<typeof tradeShape>;
export const tradeList = z.array(tradeShape);

const levels = z.array(z.object({ px: priceText, sz: sizeText }));
export const bookShape = z.object({ coin, time: millisTime, levels: z.tuple([levels, levels]) });
export type BookOfE = z.infer<typeof bookShape>;
export const oneBook = bookShape.nullable();

/** Frames of the socket. */
export const frameShape = z.discriminatedUnion('channel', [
  z.object({ channel: z.enum(['pong', 'subscriptionResponse']) }),
  z.object({ channel: z.literal('error'), data: z.string() }),
  z.object({ channel: z.literal('trades'), data: tradeList }),
  z.object({ channel: z.literal('l2Book'), data: bookShape }),
  z.object({ channel: z.literal('outcomeMetaUpdates'), data: z.object({ updates: z.array(z.unknown()) }) }),
]);
export type FrameOfE = z.infer<typeof frameShape>;
