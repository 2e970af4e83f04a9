import { createHash } from 'node:crypto';
import type { DemoTrader } from '../../e2e/execution/orders-floor.js';
import type { LedgerSums } from './ledger-sums.js';
import { micros } from './money.js';
import { judgeOrder } from './orders-accounting.js';
import type { OrderTranscript } from './transcript.js';
import { exposureOf, orderInFull, ordersIn, type OrderInFull } from './traders.js';
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

export interface Examination {
  readonly wrong: readonly string[];
  readonly orders: number;
  readonly fills: number;
  /** How many orders ended how, by status and code of failure. */
  readonly ends: ReadonlyMap<string, number>;
}

/** Sets all that the service says beside the logs of the venues and beside the entries of the ledger. */
export async function examine(examined: Examined): Promise<Examination> {
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
      const found = await allOrders(trader, exchange_id);
      orders += found.length;
      fillIds.push(...found.flatMap(({ fills }) => fills.map(({ fill_id }) => fill_id)));
      const venueFills = books.fillsOf(account);
      const byOrder = Map.groupBy(venueFills, ({ order_id }) => order_id);
      for (const ours of found) {
        const { order_id, status, failure, terminal_reason: reason } = ours.order;
        const end = `${status} ${failure?.code ?? reason ?? ''}`;
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
      const sum = (kinds: readonly string[], isAsset: (asset: string) => boolean): bigint =>
        own
          .filter(({ kind, asset }) => kinds.includes(kind) && isAsset(asset))
          .reduce((total, { amount }) => total + amount, 0n);
      const name = `ledger of ${trader.userId} at ${exchange_id}`;
      const check = (what: string, ours: bigint, theirs: bigint): void => {
        if (ours !== theirs) wrong.push(`${name}: ${what} ${ours}, at the venue ${theirs}`);
      };
      const isMoney = (asset: string): boolean => asset === '' || asset === 'USD' || asset === 'USDC';
      const everything = (): boolean => true;
      check('held', sum(['held', 'in_transit'], everything), 0n);
      check('held money', books.heldCash(account), 0n);
      check('money', sum(['available', 'held', 'in_transit'], isMoney), books.cash(account));
      const fees = venueFills.reduce((total, fill) => total + feeOf(fill), 0n);
      check('fees', sum(['fee'], isMoney), fees);
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
    }
  }
  const booked = await ledger.bookedFills(users);
  for (const id of fillIds) {
    const times = booked.get(id) ?? 0;
    if (times !== 1) wrong.push(`fill ${id} is booked ${times} times in the ledger`);
  }
  const known = new Set(fillIds);
  for (const id of booked.keys())
    if (!known.has(id)) wrong.push(`the ledger books fill ${id}, which no order shows`);
  if (known.size !== fillIds.length) wrong.push('two orders show one fill');
  return { wrong, orders, fills: fillIds.length, ends };
}

/** By which the venue knows an attempt; as the adapters promise it, made anew here. */
function clientId(exchange_id: string, order_id: string, attempt: number): string {
  if (exchange_id === 'venue_b') return attempt === 1 ? order_id : `${order_id}-${attempt}`;
  const digest = createHash('sha256').update(`${order_id}/${attempt}`).digest('hex');
  return `0x${digest.slice(0, CLOID_DIGITS)}`;
}

async function allOrders(trader: DemoTrader, exchange_id: string): Promise<OrderInFull[]> {
  const listed = await ordersIn(trader, exchange_id);
  const found: OrderInFull[] = [];
  for (let from = 0; from < listed.length; from += AT_ONCE) {
    const some = listed.slice(from, from + AT_ONCE);
    found.push(...(await Promise.all(some.map(({ order_id: id }) => orderInFull(trader, id)))));
  }
  return found;
}

/** Every order that was acknowledged is there, no other is, and the venue has none that we do not know. */
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
