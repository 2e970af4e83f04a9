import { createHash } from 'node:crypto';
import type { ClusterContract } from '#libs/testing/cluster/cluster-file.js';
import type { Random } from '../../simulator/kernel/random.js';
import type { Promised } from '../../simulator/oracle/promises.js';
import type { WireCommand } from './caller.js';

/** An auction as its parties know it. */
export interface HeardAuction {
  readonly id: string;
  readonly originator: string;
  readonly makers: readonly string[];
  readonly tick: number;
  readonly step: number;
  readonly quantity: number;
}

export interface HeardQuote {
  readonly id: string;
  readonly auctionId: string;
  readonly revision: number;
}

type Fields = Readonly<Record<string, unknown>>;

const LEVEL = 50_000;
const TERM_MS = { least: 1_500, most: 9_000 };
/**
 * A million contracts: at these prices one quote takes more than half of the million dollars that a demo maker
 * has at a venue.
 */
const LARGE = { quantity: 1_000_000_000_000, prices: { least: 11, most: 18 } };
/** Better than all of these prices, so that no such quote wins and no account loses money. */
const LARGE_LIMIT = 19 * LEVEL;
/** The auctions last long enough to quote in them, and are cancelled afterwards. */
const LARGE_TERM_MS = 15_000;

export function createErrand(
  account: string,
  contract: ClusterContract,
  makers: readonly string[],
  random: Random,
  differing: Fields = {},
): WireCommand {
  const { venue, contract_id, outcome, price_tick_atoms: tick, quantity_step_atoms: step } = contract;
  const steps = random.between(1, 12) * Math.max(1, Math.floor(1_000_000 / step));
  const isSplit = random.chance(0.5);
  const body = {
    side: random.pick(['BUY', 'SELL']),
    quantity_atoms: step * steps,
    routes: [{ venue, contract_id, outcome }],
    audience: { market_maker_ids: random.shuffled(makers).slice(0, random.between(1, makers.length)) },
    duration_ms: random.between(TERM_MS.least, TERM_MS.most),
    execution_deadline_ms: random.pick([20_000, 60_000]),
    ...(isSplit ? { allocation: 'SPLIT', max_winners: random.between(2, 4) } : {}),
    ...(random.chance(0.5) ? { limit_price_atoms: priceOn(tick, random) } : {}),
    ...(random.chance(0.3) ? { min_fill_quantity_atoms: step * random.between(1, steps) } : {}),
    ...(random.chance(0.3) ? { quote_revision_policy: random.pick(['FREE', 'IMPROVE_ONLY', 'FINAL']) } : {}),
    ...(random.chance(0.3)
      ? { result_disclosure: random.pick(['WINNING_PRICE', 'WINNING_PRICE_AND_RANK']) }
      : {}),
    ...(random.chance(0.7)
      ? {
          identity_policy: {
            originator: random.pick(['ANONYMOUS', 'DISCLOSED', 'WINNER_ONLY']),
            market_makers: random.pick(['ANONYMOUS', 'DISCLOSED_AFTER_AWARD']),
          },
        }
      : {}),
    ...(random.chance(0.3) ? { client_reference: referenceOf(random) } : {}),
    ...differing,
  };
  return { command: commandOf('CREATE', account, '', random, body), path: '/v1/auctions', body };
}

/** The shard of a create, as the contract defines it. */
export function shardFor({ command: { account, key } }: WireCommand): number {
  const hash = createHash('sha256').update(`${account}\0${key}`).digest();
  return Number(hash.readBigUInt64BE() % 3n);
}

/** A sale so large that a maker can quote only once. Quotes may be withdrawn, and never win. */
export function largeSaleErrand(
  account: string,
  contract: ClusterContract,
  maker: string,
  shard: number,
  random: Random,
): WireCommand {
  for (;;) {
    const errand = createErrand(account, contract, [maker], random, {
      side: 'SELL',
      quantity_atoms: LARGE.quantity,
      limit_price_atoms: LARGE_LIMIT,
      duration_ms: LARGE_TERM_MS,
      quote_revision_policy: 'FREE',
    });
    if (shardFor(errand) === shard) return errand;
  }
}

export function largeQuoteErrand(account: string, auctionId: string, random: Random): WireCommand {
  const price_atoms = LEVEL * random.between(LARGE.prices.least, LARGE.prices.most);
  const body = { price_atoms, quantity_atoms: LARGE.quantity };
  return onAuction('SUBMIT', { account, auctionId, action: 'quotes', body }, random);
}

export function submitErrand(account: string, auction: HeardAuction, random: Random): WireCommand {
  const { tick, step, quantity } = auction;
  const size = random.between(1, quantity / step);
  const body = {
    price_atoms: priceOn(tick, random) + (random.chance(0.03) ? 1 : 0),
    quantity_atoms: step * size,
    ...(random.chance(0.3) ? { min_quantity_atoms: step * random.between(1, size) } : {}),
    ...(random.chance(0.15) ? { expires_at: soon(random) } : {}),
    ...(random.chance(0.2) ? { client_reference: referenceOf(random) } : {}),
  };
  return onAuction('SUBMIT', { account, auctionId: auction.id, action: 'quotes', body }, random);
}

export function reviseErrand(
  account: string,
  auction: HeardAuction,
  quote: HeardQuote,
  random: Random,
): WireCommand {
  const { tick, step, quantity } = auction;
  const price = { price_atoms: priceOn(tick, random) };
  const size = { quantity_atoms: step * random.between(1, quantity / step) };
  const least = { min_quantity_atoms: step * random.between(1, Math.min(3, quantity / step)) };
  const usual = random.pick<Fields>([price, size, { ...price, ...size }]);
  const terms = random.chance(0.7)
    ? usual
    : random.pick<Fields>([least, { client_reference: referenceOf(random) }, { ...usual, ...least }]);
  const body = { expected_revision: quote.revision, ...terms };
  const path = { account, auctionId: auction.id, action: `quotes/${quote.id}/revise` };
  return onAuction('REVISE', { ...path, quoteId: quote.id, body }, random);
}

export function withdrawErrand(account: string, { id, auctionId }: HeardQuote, random: Random): WireCommand {
  const path = { account, auctionId, action: `quotes/${id}/withdraw` };
  return onAuction('WITHDRAW', { ...path, quoteId: id, body: {} }, random);
}

export function cancelErrand(account: string, auctionId: string, random: Random): WireCommand {
  const body = random.pick<Fields>([{}, { reason: 'no longer needed' }]);
  return onAuction('CANCEL', { account, auctionId, action: 'cancel', body }, random);
}

/** Often all quotes, otherwise those in some of these auctions, at one venue, or both. */
export function withdrawAllErrand(
  account: string,
  auctionIds: readonly string[],
  venues: readonly string[],
  random: Random,
): WireCommand {
  const some = { auction_ids: random.shuffled(auctionIds).slice(0, random.between(0, auctionIds.length)) };
  const venue = { venue: random.pick(venues) };
  const body = random.pick<Fields>([{}, {}, {}, some, venue, { ...some, ...venue }]);
  const command = commandOf('WITHDRAW_ALL', account, '', random, body);
  return { command, path: '/v1/quotes/withdraw-all', body };
}

interface OnAuction {
  readonly account: string;
  readonly auctionId: string;
  readonly action: string;
  /** The quote named in the path. */
  readonly quoteId?: string;
  readonly body: Fields;
}

function onAuction(operation: Promised['operation'], on: OnAuction, random: Random): WireCommand {
  const { account, auctionId, action, quoteId, body } = on;
  const content = quoteId === undefined ? body : { quote_id: quoteId, ...body };
  const command = commandOf(operation, account, auctionId, random, content);
  return { command, path: `/v1/auctions/${auctionId}/${action}`, body };
}

function commandOf(
  operation: Promised['operation'],
  account: string,
  auctionId: string,
  random: Random,
  content: object,
): Promised {
  return { operation, account, auctionId, key: random.uuid(), content: JSON.stringify(content) };
}

function soon(random: Random): string {
  const at = new Date(Date.now() + random.between(500, 6_000)).toISOString();
  return at.replace('Z', '000000Z');
}

function referenceOf(random: Random): string {
  return `our number ${random.below(1_000)}`;
}

/** Often one of a few prices that are on every grid: quotes at the same price test the rule of priority. */
function priceOn(tick: number, random: Random): number {
  if (random.chance(0.6)) return LEVEL * random.between(8, 12);
  return tick * random.between(Math.ceil(300_000 / tick), Math.floor(700_000 / tick));
}
