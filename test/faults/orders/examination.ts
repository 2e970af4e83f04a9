import { createHash } from 'node:crypto';
import type { DemoTrader } from '../../e2e/execution/orders-floor.js';
import type { LedgerSum, LedgerSums } from './ledger-sums.js';
import { micros } from './money.js';
import { judgeOrder } from './orders-accounting.js';
import type { OrderTranscript } from './transcript.js';
import { exposureOf, orderInFull, ordersIn, type OrderInFull, type OrderSeen } from './traders.js';
import { feeOf, type VenueBooks } from './venue-books.js';
import type { Pitch } from './workload.js';

const CLOID_DIGITS = 32;
const AT_ONCE = 8;

export interface Examined {
  readonly traders: readonly DemoTrader[];
  readonly pitches: readonly Pitch[];
  readonly transcript: OrderTranscript;
  readonly ledger: LedgerSums;
  readonly booksOf: (exchange_id: Pitch['exchange_id']) => VenueBooks;
}

export interface OrderExamination {
  readonly wrong: readonly string[];
  readonly orders: number;
  readonly fills: number;
  /** How many orders ended in each way, by venue, status and failure code. */
  readonly ends: ReadonlyMap<string, number>;
}

/** Compares all that the service shows with the venues' logs and the ledger's entries. */
export async function examine(examined: Examined): Promise<OrderExamination> {
  const { traders, pitches, transcript, ledger, booksOf } = examined;
  const users = traders.map(({ userId }) => userId);
  const wrong = [...transcript.contradictions, ...(await ledger.contradictions(users))];
  const accounts = await ledger.accounts();
  const signatures = await ledger.submitSignatures(users);
  const sums = await ledger.sums(users);
  const fillIds: string[] = [];
  const ends = new Map<string, number>();
  let orders = 0;
  for (const { exchange_id, markets } of pitches) {
    const books = booksOf(exchange_id);
    for (const trader of traders) {
      const account = accounts.get(`${exchange_id}/${trader.userId}`) ?? '';
      const listed = await ordersIn(trader, exchange_id);
      const rows = new Map(listed.map((row) => [row.order_id, row]));
      const found = await allOrders(trader, listed);
      orders += found.length;
      fillIds.push(...found.flatMap(({ fills }) => fills.map(({ fill_id }) => fill_id)));
      const venueFills = books.fillsOf(account);
      const byOrder = Map.groupBy(venueFills, ({ order_id }) => order_id);
      for (const ours of found) {
        const { order_id, status, failure, terminal_reason: reason } = ours.order;
        const end = `${exchange_id} ${status} ${failure?.code ?? reason ?? ''}`;
        wrong.push(...judgeRow(ours, rows.get(order_id)));
        ends.set(end, (ends.get(end) ?? 0) + 1);
        const amendedTo = transcript.amends.filter((one) => one.order_id === order_id);
        wrong.push(
          ...judgeOrder({
            ...{ ours, books, account, fills: byOrder, signatures: signatures.get(order_id) ?? 0 },
            clientIdOf: (attempt) => clientId(exchange_id, order_id, attempt),
            amendedTo: amendedTo.map(({ price }) => price),
          }),
        );
      }
      wrong.push(...judgeSet(transcript, trader, exchange_id, found, books, account));
      wrong.push(...(await judgeExposure(trader, exchange_id, markets, books, account)));
      const own = sums.filter(({ user, venue }) => user === trader.userId && venue === exchange_id);
      wrong.push(...judgeSums(own, `${trader.userId} at ${exchange_id}`, markets, books, account));
    }
  }
  wrong.push(...judgeBooked(fillIds, await ledger.bookedFills(users)));
  return { wrong, orders, fills: fillIds.length, ends };
}

/** The venue's id for an attempt, computed as the adapters document it. */
function clientId(exchange_id: string, order_id: string, attempt: number): string {
  if (exchange_id === 'venue_b') return attempt === 1 ? order_id : `${order_id}-${attempt}`;
  const digest = createHash('sha256').update(`${order_id}/${attempt}`).digest('hex');
  return `0x${digest.slice(0, CLOID_DIGITS)}`;
}

async function allOrders(trader: DemoTrader, listed: readonly OrderSeen[]): Promise<OrderInFull[]> {
  const found: OrderInFull[] = [];
  for (let from = 0; from < listed.length; from += AT_ONCE) {
    const some = listed.slice(from, from + AT_ONCE);
    found.push(...(await Promise.all(some.map(({ order_id: id }) => orderInFull(trader, id)))));
  }
  return found;
}

/** Lists and single orders come from different queries, and must agree. */
function judgeRow({ order }: OrderInFull, row: OrderSeen | undefined): string[] {
  const isSame = row?.version === order.version && row.status === order.status;
  return isSame && row.filled_quantity === order.filled_quantity
    ? []
    : [`${order.order_id} is ${order.status}, in the list ${row?.status ?? 'missing'}`];
}

/** Every acknowledged order exists, no other does, and the venue has none that the service does not know. */
function judgeSet(
  { submits }: OrderTranscript,
  trader: DemoTrader,
  exchange_id: string,
  found: readonly OrderInFull[],
  books: VenueBooks,
  account: string,
): string[] {
  const own = submits.filter((one) => one.trader === trader && one.body.exchange_id === exchange_id);
  const acknowledged = new Set(own.flatMap(({ order_id }) => order_id ?? []));
  const listed = new Map(found.map(({ order }) => [order.order_id, order]));
  const atVenue = new Set(found.flatMap(({ order }) => order.exchange_order_id ?? []));
  const keys = found.flatMap(({ order }) => order.client_order_id ?? []);
  return [
    ...[...acknowledged]
      .filter((id) => !listed.has(id))
      .map((id) => `acknowledged order ${id} is not listed`),
    ...[...listed.values()]
      .filter(({ order_id }) => !acknowledged.has(order_id))
      .map(({ order_id, origin }) => `${origin} order ${order_id} was never acknowledged`),
    ...(new Set(keys).size === keys.length ? [] : [`two orders of ${trader.userId} have one key`]),
    ...books
      .ordersOf(account)
      .filter(({ order_id: id }) => !atVenue.has(id))
      .map(
        ({ order_id: id, client_id }) =>
          `${exchange_id} has order ${id} (${client_id ?? ''}) that no record names`,
      ),
  ];
}

/** Exactly one booking for each fill that any order shows. */
function judgeBooked(fillIds: readonly string[], booked: ReadonlyMap<string, number>): string[] {
  const known = new Set(fillIds);
  return [
    ...(known.size === fillIds.length ? [] : ['two orders show one fill']),
    ...fillIds
      .filter((id) => booked.get(id) !== 1)
      .map((id) => `fill ${id} is booked ${booked.get(id) ?? 0} times in the ledger`),
    ...[...booked.keys()]
      .filter((id) => !known.has(id))
      .map((id) => `the ledger books fill ${id}, which no order shows`),
  ];
}

/** What the ledger's entries add up to for one user at one venue. */
function judgeSums(
  own: readonly LedgerSum[],
  name: string,
  markets: Pitch['markets'],
  books: VenueBooks,
  account: string,
): string[] {
  const wrong: string[] = [];
  const sum = (kinds: readonly string[], isAsset: (asset: string) => boolean): bigint =>
    own
      .filter(({ kind, asset }) => kinds.includes(kind) && isAsset(asset))
      .reduce((total, { amount }) => total + amount, 0n);
  const check = (what: string, ours: bigint, theirs: bigint): void => {
    if (ours !== theirs) wrong.push(`ledger of ${name}: ${what} ${ours}, at the venue ${theirs}`);
  };
  check(
    'held',
    sum(['held', 'in_transit'], () => true),
    0n,
  );
  check('held money', 0n, books.heldCash(account));
  check('money', sum(['available', 'held', 'in_transit'], isMoney), books.cash(account));
  check(
    'fees',
    sum(['fee'], isMoney),
    books.fillsOf(account).reduce((total, fill) => total + feeOf(fill), 0n),
  );
  for (const { market_id, outcomes } of markets)
    for (const [index, { outcome, token_id }] of outcomes.entries()) {
      const token = token_id ?? `${market_id}:${outcome}`;
      const shares = books.shares(account, market_id, index === 0 ? 0 : 1);
      check(
        `shares of ${token}`,
        sum(['position', 'held'], (asset) => asset === token),
        shares,
      );
    }
  return wrong;
}

function isMoney(asset: string): boolean {
  return asset === 'USD' || asset === 'USDC';
}

async function judgeExposure(
  trader: DemoTrader,
  exchange_id: string,
  markets: Pitch['markets'],
  books: VenueBooks,
  account: string,
): Promise<string[]> {
  const { positions, reservation_source } = await exposureOf(trader);
  const wrong =
    reservation_source === 'cell' ? [] : [`exposure of ${trader.userId} is ${reservation_source}`];
  for (const { market_id, outcomes } of markets)
    for (const [index, { outcome }] of outcomes.entries()) {
      const shares = books.shares(account, market_id, index === 0 ? 0 : 1);
      const row = positions.find((one) => one.market_id === market_id && one.outcome === outcome);
      const name = `exposure of ${trader.userId} in ${exchange_id} ${market_id} ${outcome}`;
      const net = micros(row?.net_size ?? '0');
      if (net !== shares) wrong.push(`${name}: ${net}, at the venue ${shares}`);
      if (row === undefined) continue;
      if (row.reserved !== '0') wrong.push(`${name}: ${row.reserved} reserved`);
      if (!row.reservations_verified) wrong.push(`${name}: not verified`);
    }
  return wrong;
}
