import type { RawTerms } from './raw-events.js';

export interface CandidateQuote {
  readonly id: string;
  readonly price: number;
  readonly quantity: number;
  readonly minimum: number;
  readonly priority: number;
}

export interface Win {
  readonly id: string;
  readonly quantity: number;
}

/** The winners by the contract's words, found by comparing each pair of quotes, without sorting. */
export function winnersOf(terms: RawTerms, standing: readonly CandidateQuote[]): readonly Win[] {
  const { side, limit_price_atoms: reserve } = terms;
  const counting = standing.filter(({ price }) => {
    if (reserve === undefined) return true;
    return side === 'BUY' ? price <= reserve : price >= reserve;
  });
  const beats = (one: CandidateQuote, other: CandidateQuote): boolean => {
    if (one.price !== other.price) return side === 'BUY' ? one.price < other.price : one.price > other.price;
    return one.priority < other.priority;
  };
  const best = (among: readonly CandidateQuote[]): CandidateQuote | undefined =>
    among.find((one) => among.every((other) => one === other || beats(one, other)));
  if (terms.allocation === 'SINGLE_WINNER') {
    const winner = best(counting.filter(({ quantity }) => quantity >= terms.min_fill_quantity_atoms));
    return winner === undefined ? [] : [{ id: winner.id, quantity: winner.quantity }];
  }
  const wins: Win[] = [];
  let left = terms.quantity_atoms;
  let rest = counting;
  while (rest.length > 0 && left > 0 && wins.length < terms.max_winners) {
    const next = best(rest);
    if (next === undefined) throw new Error('two quotes are equal in everything');
    rest = rest.filter((other) => other !== next);
    if (next.minimum > left) continue;
    const quantity = next.quantity < left ? next.quantity : left;
    wins.push({ id: next.id, quantity });
    left -= quantity;
  }
  const filled = wins.reduce((sum, { quantity }) => sum + quantity, 0);
  return filled >= terms.min_fill_quantity_atoms ? wins : [];
}
