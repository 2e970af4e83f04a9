import { z } from 'zod';
import { VenueUnavailable } from '../port.js';
import { decimal } from './amounts.js';

/** The fields that the adapter reads from the venue's answers. It ignores all others. */

const millis = z.number().int().nonnegative();
const cloid = z.string().nullish();
const side = z.enum(['A', 'B']);

export const outcome = z.object({
  outcome: z.number().int().nonnegative(),
  name: z.string(),
  description: z.string(),
  sideSpecs: z.array(z.object({ name: z.string() })).min(2),
});
export const outcomeMeta = z.object({ outcomes: z.array(outcome) });
export const settledOutcome = z.object({ spec: outcome }).nullable();
export const exchangeStatus = z.object({ specialStatuses: z.string().nullish() });
export const spotMeta = z.object({
  tokens: z.array(z.object({ name: z.string(), tokenId: z.string() })),
});
const level = z.object({ px: decimal });
export const book = z.object({ levels: z.tuple([z.array(level), z.array(level)]) }).nullable();

export const order = z.object({
  coin: z.string(),
  side,
  limitPx: decimal,
  sz: decimal,
  origSz: decimal,
  oid: millis,
  timestamp: millis,
  tif: z.string().nullish(),
  cloid,
});
export const openOrders = z.array(order);
export const orderStatus = z.discriminatedUnion('status', [
  z.object({ status: z.literal('unknownOid') }),
  z.object({ status: z.literal('order'), order: z.object({ order, status: z.string() }) }),
]);
export const fill = z.object({
  coin: z.string(),
  px: decimal,
  sz: decimal,
  side,
  time: millis,
  oid: millis,
  tid: millis,
  crossed: z.boolean(),
  fee: decimal,
  cloid,
});
export const fills = z.array(fill);
export const balances = z.object({
  balances: z.array(z.object({ coin: z.string(), total: decimal })),
});
export const agents = z.array(z.object({ address: z.string() }));

const delta = z.union([
  z.object({ type: z.literal('deposit'), usdc: decimal }),
  z.object({ type: z.literal('withdraw'), usdc: decimal }),
  z.object({
    type: z.enum(['spotTransfer', 'send']),
    token: z.string(),
    amount: decimal,
    user: z.string().toLowerCase(),
    destination: z.string().toLowerCase(),
    nonce: z.number().nullish(),
  }),
  z.object({ type: z.literal('outcomeSettlement'), coin: z.string(), sz: decimal, usdc: decimal }),
  /** Updates that do not concern outcome markets. */
  z.object({ type: z.string() }).transform(() => ({ type: 'other' as const })),
]);
export const ledgerUpdates = z.array(z.object({ time: millis, hash: z.string(), delta }));

const named = z.object({ oid: millis });
const status = z.union([
  z.literal('success'),
  z.object({ resting: named }),
  z.object({ filled: named.extend({ totalSz: decimal }) }),
  z.object({ error: z.string() }),
]);
export const exchangeReply = z.discriminatedUnion('status', [
  z.object({ status: z.literal('err'), response: z.string() }),
  z.object({
    status: z.literal('ok'),
    response: z.object({
      type: z.string(),
      data: z.object({ statuses: z.array(status).min(1) }).optional(),
    }),
  }),
]);

export type VenueEOutcome = z.infer<typeof outcome>;
export type VenueEOrder = z.infer<typeof order>;
export type VenueEFill = z.infer<typeof fill>;
export type VenueEStatus = z.infer<typeof status>;
export type VenueEUpdate = z.infer<typeof ledgerUpdates>[number];

/** Throws `VenueUnavailable` if the answer has an unexpected form. */
export function readAs<Shape>(shape: z.ZodType<Shape>, body: unknown): Shape {
  const read = shape.safeParse(body);
  if (!read.success) throw new VenueUnavailable('the answer is not of the expected form');
  return read.data;
}
