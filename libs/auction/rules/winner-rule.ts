import type { Atoms } from '#libs/base/money.js';
import type { Allocation, Side } from './terms.js';

/**
 * The winner rule: best price for the originator first, then the earlier priority point. That is a journal position, so there are no
 * ties. Quotes worse than the originator's limit do not count. Each winner trades at its own price. The rule depends only on the
 * journal, so anyone who can read the journal can recompute the winners.
 */
export interface Contender {
  readonly quote_id: string;
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  readonly min_quantity_atoms: Atoms;
  readonly priority: number;
}

export interface Contest {
  /** The originator's side. */
  readonly side: Side;
  readonly quantity_atoms: Atoms;
  readonly limit_price_atoms?: Atoms;
  readonly min_fill_quantity_atoms: Atoms;
  readonly allocation: Allocation;
  readonly max_winners: number;
}

export interface Fill<C extends Contender> {
  readonly quote: C;
  readonly quantity_atoms: Atoms;
}

/** The quotes that count, best first. */
export function rank<C extends Contender>(contest: Contest, quotes: readonly C[]): C[] {
  return quotes.filter((quote) => meetsReserve(contest, quote)).sort((a, b) => compare(contest.side, a, b));
}

/** What each winner gets, in the order of `ranked`. Empty when the minimum fill is not reached. */
export function award<C extends Contender>(contest: Contest, ranked: readonly C[]): Fill<C>[] {
  return contest.allocation === 'SINGLE_WINNER' ? single(contest, ranked) : split(contest, ranked);
}

function meetsReserve({ side, limit_price_atoms: reserve }: Contest, quote: Contender): boolean {
  if (reserve === undefined) return true;
  return side === 'BUY' ? quote.price_atoms <= reserve : quote.price_atoms >= reserve;
}

function compare(side: Side, a: Contender, b: Contender): number {
  if (a.price_atoms === b.price_atoms) return a.priority - b.priority;
  return side === 'BUY' ? a.price_atoms - b.price_atoms : b.price_atoms - a.price_atoms;
}

function single<C extends Contender>(contest: Contest, ranked: readonly C[]): Fill<C>[] {
  const winner = ranked.find((quote) => quote.quantity_atoms >= contest.min_fill_quantity_atoms);
  return winner === undefined ? [] : [{ quote: winner, quantity_atoms: winner.quantity_atoms }];
}

function split<C extends Contender>(contest: Contest, ranked: readonly C[]): Fill<C>[] {
  const fills: Fill<C>[] = [];
  let remaining = contest.quantity_atoms;
  for (const quote of ranked) {
    if (remaining === 0 || fills.length === contest.max_winners) break;
    if (quote.min_quantity_atoms > remaining) continue;
    const quantity = Math.min(quote.quantity_atoms, remaining);
    fills.push({ quote, quantity_atoms: quantity });
    remaining -= quantity;
  }
  return contest.quantity_atoms - remaining >= contest.min_fill_quantity_atoms ? fills : [];
}
