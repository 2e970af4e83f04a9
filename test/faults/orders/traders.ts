import { z } from 'zod';
import type { DemoTrader } from '../../e2e/execution/orders-floor.js';

const order = z.object({
  order_id: z.string(),
  origin: z.string(),
  client_order_id: z.string().optional(),
  exchange_id: z.string(),
  exchange_order_id: z.string().optional(),
  market_id: z.string(),
  outcome: z.string(),
  side: z.string(),
  price: z.string(),
  quantity: z.string(),
  status: z.string(),
  filled_quantity: z.string(),
  attempts: z.number(),
  version: z.number(),
  stalled: z.boolean(),
  terminal_reason: z.string().optional(),
  failure: z.object({ code: z.string() }).loose().optional(),
});
export type OrderSeen = z.output<typeof order>;
const orders = z.object({ orders: z.array(order), next_before_id: z.string().optional() });

const fill = z.object({
  fill_id: z.string(),
  order_id: z.string(),
  outcome: z.string(),
  side: z.string(),
  price: z.string(),
  quantity: z.string(),
  fee: z.object({ amount: z.string() }),
  liquidity: z.string(),
  venue_trade_id: z.string(),
});
export type FillSeen = z.output<typeof fill>;
const fills = z.object({ fills: z.array(fill) });

const event = z.object({
  seq: z.number(),
  version: z.number(),
  at: z.string(),
  cause: z.string(),
  status: z.string(),
  call: z.object({ operation: z.string(), sent_at: z.string() }).loose().optional(),
});
export type EventSeen = z.output<typeof event>;
const events = z.object({ events: z.array(event) });

const exposure = z.object({
  positions: z.array(
    z.object({
      exchange_id: z.string(),
      market_id: z.string(),
      outcome: z.string(),
      net_size: z.string(),
      available_to_sell: z.string(),
      reserved: z.string(),
      reservations_verified: z.boolean(),
    }),
  ),
  reservation_source: z.string(),
});
export type ExposureSeen = z.output<typeof exposure>;

/** All that the service shows of one order. */
export interface OrderInFull {
  readonly order: OrderSeen;
  readonly fills: readonly FillSeen[];
  readonly events: readonly EventSeen[];
}

async function read<T>(trader: DemoTrader, shape: z.ZodType<T>, path: string): Promise<T> {
  const { status, body, text } = await trader.send('GET', path);
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
  return shape.parse(body);
}

export async function ordersIn(trader: DemoTrader, exchange_id: string, more = ''): Promise<OrderSeen[]> {
  const found: OrderSeen[] = [];
  for (let before: string | undefined, isFirst = true; isFirst || before !== undefined; isFirst = false) {
    const from = before === undefined ? '' : `&before_id=${before}`;
    const page = await read(trader, orders, `/orders?exchange_id=${exchange_id}&limit=200${more}${from}`);
    found.push(...page.orders);
    before = page.next_before_id;
  }
  return found;
}

export async function orderInFull(trader: DemoTrader, id: string): Promise<OrderInFull> {
  const [one, its, timeline] = await Promise.all([
    read(trader, order, `/orders/${id}`),
    read(trader, fills, `/orders/${id}/fills`),
    read(trader, events, `/orders/${id}/events?limit=1000`),
  ]);
  return { order: one, fills: its.fills, events: timeline.events };
}

export function exposureOf(trader: DemoTrader): Promise<ExposureSeen> {
  return read(trader, exposure, '/positions/exposure');
}
