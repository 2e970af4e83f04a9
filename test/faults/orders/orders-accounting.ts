import type { VenueFill, VenueOrder } from '#libs/practice/venue/terms.js';
import { micros } from './money.js';
import type { FillSeen, OrderInFull } from './traders.js';
import { feeOf, type VenueBooks } from './venue-books.js';

const DOLLAR = 1_000_000n;
const TERMINAL = ['filled', 'cancelled', 'expired', 'failed'];
/** Sending gives up after seconds; the service itself looks after a minute. */
const MOST_SENDING_MS = 45_000;
/** Events that say nothing about the result of a submission. */
const NO_NEWS = ['CALL', 'CANCEL_REQUESTED', 'STALLED'];

export interface JudgedOrder {
  readonly ours: OrderInFull;
  readonly books: VenueBooks;
  readonly account: string;
  /** By the venue's order id. */
  readonly fills: ReadonlyMap<string, readonly VenueFill[]>;
  readonly clientIdOf: (attempt: number) => string;
  readonly amendedTo: readonly string[];
  readonly signatures: number;
}

/** Differences between one of our orders and the venue's log. */
export function judgeOrder(judged: JudgedOrder): string[] {
  const { ours, books, account, clientIdOf } = judged;
  const { order } = ours;
  const attempts = Math.max(order.attempts, 1);
  const names = new Set(Array.from({ length: attempts + 1 }, (_, index) => clientIdOf(index + 1)));
  const placed = books
    .ordersOf(account)
    .filter(({ client_id, order_id }) => names.has(client_id ?? '') || order_id === order.exchange_order_id);
  const [there, ...more] = placed;
  return [
    ...(more.length > 0 ? [`is ${placed.length} orders at the venue`] : []),
    ...(there === undefined ? judgeAbsent(ours) : judgePlaced(judged, there)),
    ...judgeEnd(ours),
    ...judgeTimeline(ours, judged.signatures),
  ].map((wrong) => `${order.exchange_id} ${order.order_id} (${order.status}): ${wrong}`);
}

function judgeAbsent({ order, fills }: OrderInFull): string[] {
  return [
    ...(order.exchange_order_id === undefined ? [] : ['has an id that the venue does not know']),
    ...(fills.length === 0 ? [] : ['has fills, and the venue does not know it']),
    ...(order.status === 'failed' || order.status === 'cancelled' ? [] : ['is not at the venue']),
  ];
}

function judgePlaced({ ours, books, fills, amendedTo }: JudgedOrder, there: VenueOrder): string[] {
  const { order } = ours;
  const wrong: string[] = [];
  const check = (what: string, our: unknown, theirs: unknown): void => {
    if (our !== theirs) wrong.push(`${what} is ${String(our)}, at the venue ${String(theirs)}`);
  };
  check('the id', order.exchange_order_id, there.order_id);
  check('what is filled', micros(order.filled_quantity), BigInt(there.filled));
  check('whether it rests', false, there.status === 'resting');
  check('whether it is filled', order.status === 'filled', there.status === 'executed');
  if (order.failure?.code === 'EXCHANGE_NOT_PLACED') wrong.push('failed as not placed, and was placed');
  const prices = books.prices.get(there.order_id) ?? [];
  for (const price of amendedTo)
    if (!prices.some((at) => own(at, there) === micros(price) || at === micros(price)))
      wrong.push(`was said to be amended to ${price}, and was not`);
  // In a campaign only its owner ends an order at the venue, unless it meets the owner's own order; that has its own reason.
  if (order.terminal_reason === 'VENUE')
    wrong.push(`ended by the venue, where ${there.cause ?? ''} ended it: ${timelineOf(ours)}`);
  wrong.push(...judgeFills(ours.fills, fills.get(there.order_id) ?? []));
  return wrong;
}

/** In dollars of the first outcome: venues may store an order in terms of the other one. */
function own(price: bigint, { outcome }: Pick<VenueOrder, 'outcome'>): bigint {
  return outcome === 0 ? price : DOLLAR - price;
}

function judgeFills(ours: readonly FillSeen[], theirs: readonly VenueFill[]): string[] {
  const booked = ours.map((fill) => {
    const price = micros(fill.price);
    return { fill, text: textOf(fill.venue_trade_id, price, micros(fill.quantity), micros(fill.fee.amount)) };
  });
  const known = new Map(
    theirs.map((fill) => [
      fill.trade_id,
      [BigInt(fill.price), DOLLAR - BigInt(fill.price)].map((price) =>
        textOf(fill.trade_id, price, BigInt(fill.size), feeOf(fill)),
      ),
    ]),
  );
  const wrong = booked.flatMap(({ fill, text }) => {
    const expected = known.get(fill.venue_trade_id);
    if (expected === undefined) return [`fill ${text} is not known to the venue`];
    return expected.includes(text) ? [] : [`fill ${text} is ${expected[0] ?? ''} at the venue`];
  });
  const seen = booked.map(({ fill }) => fill.venue_trade_id);
  const twice = seen.filter((id, index) => seen.indexOf(id) !== index);
  const missing = theirs.filter(({ trade_id: id }) => !seen.includes(id));
  return [
    ...wrong,
    ...twice.map((id) => `fill of trade ${id} is booked twice`),
    ...missing.map(({ trade_id: id, size }) => `fill of trade ${id} (${size}) is missing`),
  ];
}

function textOf(trade: string, price: bigint, quantity: bigint, fee: bigint): string {
  return `${trade}: ${quantity} at ${price}, fee ${fee}`;
}

function judgeEnd({ order, fills }: OrderInFull): string[] {
  const sum = fills.reduce((total, { quantity }) => total + micros(quantity), 0n);
  const filled = micros(order.filled_quantity);
  const isEnded = TERMINAL.includes(order.status);
  return [
    ...(isEnded ? [] : ['does not end']),
    ...(order.stalled ? ['is stalled'] : []),
    ...(sum === filled ? [] : [`its fills are ${sum}, what is filled ${filled}`]),
    ...((order.status === 'filled') === (filled === micros(order.quantity))
      ? []
      : [`is ${order.status} with ${filled}`]),
    ...(order.status === 'failed' && filled > 0n ? [`failed with ${filled} filled`] : []),
  ];
}

function judgeTimeline({ order, events }: OrderInFull, signatures: number): string[] {
  const wrong = events.flatMap(({ seq }, index) =>
    seq === index + 1 ? [] : [`event ${index + 1} has seq ${seq}`],
  );
  const versions = events.map(({ version }) => version);
  if (versions.some((version, index) => version < (versions[index - 1] ?? 0)))
    wrong.push('its version goes back');
  if ((versions.at(-1) ?? 0) !== order.version) wrong.push('its last event is not its version');
  const end = events.find(({ status }) => TERMINAL.includes(status));
  if (
    end !== undefined &&
    events.slice(end.seq).some(({ status, cause }) => status !== end.status || cause === 'FILL')
  )
    wrong.push(`${end.status} too early: ${timelineOf({ events })}`);
  wrong.push(...judgeSending(events));
  const submits = events.flatMap(({ call }) => (call?.operation === 'submit' ? [call.sent_at] : []));
  const sends = new Set(submits).size;
  if (sends > order.attempts) wrong.push(`${sends} submits in ${order.attempts} attempts`);
  if (sends < submits.length) wrong.push(`one submit is on record twice: ${timelineOf({ events })}`);
  if (signatures > order.attempts)
    wrong.push(`${signatures} signed submissions in ${order.attempts} attempts`);
  return wrong;
}

/** A submission must be answered or marked as doubtful soon, and not wait until a later check. */
function judgeSending(events: OrderInFull['events']): string[] {
  return events.flatMap(({ cause, at, seq }) => {
    if (cause !== 'SUBMITTING') return [];
    const news = events.slice(seq).find((event) => !NO_NEWS.includes(event.cause));
    const millis = Date.parse(news?.at ?? '') - Date.parse(at);
    return millis < MOST_SENDING_MS
      ? []
      : [`begun and neither answered nor doubted for ${millis} ms: ${timelineOf({ events })}`];
  });
}

function timelineOf({ events }: Pick<OrderInFull, 'events'>): string {
  return events.map(({ cause, status, call }) => `${cause} ${status} ${call?.operation ?? ''}`).join(', ');
}
