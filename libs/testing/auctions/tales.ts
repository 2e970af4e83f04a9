import fc from 'fast-check';
import { plusMillis } from '#libs/base/instant.js';
import { activeQuote, activeQuotes, type AuctionState, type Quote } from '#libs/auction/rules/state.js';
import type { Terms } from '#libs/auction/rules/terms.js';
import { AuctionStory, OPENED_AT, storyTerms } from './story.js';

const MAKERS = ['mia', 'max', 'moe'] as const;
const STEP = 1_000_000;
const TICK = 1_000;
const EXECUTION_STARTS_MS = 61_000;

interface Move {
  readonly maker: string;
  readonly act: 'QUOTE' | 'WITHDRAW' | 'EXPIRE' | 'REFUSED';
  readonly price: number;
  readonly quantity: number;
}

interface ExecutionMove {
  readonly maker: string;
  /** `REFUSED`: the maker tries to quote again, which is journaled unless the auction is over for it. */
  readonly step: 'SUBMITTED' | 'RETRYING' | 'CONFIRMED' | 'FAILED' | 'REFUSED';
}

/** What all parties do in one auction. Each acts at a fixed time, whatever the others do. */
export interface Tale {
  readonly terms: Terms;
  readonly moves: readonly Move[];
  readonly ending: 'NONE' | 'CANCELLED' | 'VOIDED' | 'CLOSED' | 'DECIDED';
  readonly execution: readonly ExecutionMove[];
}

const maker = fc.constantFrom(...MAKERS);

const move: fc.Arbitrary<Move> = fc.record({
  maker,
  act: fc.constantFrom('QUOTE', 'QUOTE', 'QUOTE', 'WITHDRAW', 'EXPIRE', 'REFUSED'),
  price: fc.integer({ min: 495, max: 505 }).map((ticks) => ticks * TICK),
  quantity: fc.integer({ min: 1, max: 6 }).map((steps) => steps * STEP),
});

const terms: fc.Arbitrary<Terms> = fc
  .record({
    side: fc.constantFrom('BUY', 'SELL'),
    allocation: fc.constantFrom('SPLIT', 'SINGLE_WINNER'),
    quantity_atoms: fc.integer({ min: 2, max: 8 }).map((steps) => steps * STEP),
    min_fill_quantity_atoms: fc.integer({ min: 1, max: 5 }).map((steps) => steps * STEP),
    limit_price_atoms: fc.integer({ min: 494, max: 506 }).map((ticks) => ticks * TICK),
    result_disclosure: fc.constantFrom('OWN_RESULT', 'WINNING_PRICE', 'WINNING_PRICE_AND_RANK'),
    identity_policy: fc.record({
      originator: fc.constantFrom('ANONYMOUS', 'DISCLOSED', 'WINNER_ONLY'),
      market_makers: fc.constantFrom('ANONYMOUS', 'DISCLOSED_AFTER_AWARD'),
    }),
  } as const)
  .map(storyTerms);

export const anyTale: fc.Arbitrary<Tale> = fc.record({
  terms,
  moves: fc.array(move, { maxLength: 10, size: 'max' }),
  ending: fc.constantFrom('NONE', 'CANCELLED', 'VOIDED', 'CLOSED', 'DECIDED', 'DECIDED', 'DECIDED'),
  execution: fc.array(
    fc.record({
      maker,
      step: fc.constantFrom('SUBMITTED', 'RETRYING', 'CONFIRMED', 'FAILED', 'REFUSED'),
    } as const),
    { maxLength: 10, size: 'max' },
  ),
} as const);

/** Called between any two possible events, whether they happened or not. */
export type Onlooker = (state: AuctionState) => void;

/** Plays the tale without the moves of ignored makers. The others make the same moves at the same times. */
export function tell(
  tale: Tale,
  isIncluded: (maker: string) => boolean,
  observe: Onlooker = () => undefined,
): AuctionStory {
  const story = new AuctionStory(tale.terms);
  observe(story.state);
  tale.moves.forEach((next, index) => {
    if (isIncluded(next.maker)) makes(story.at(plusMillis(OPENED_AT, 1 + index)), next, `quote-${index}`);
    observe(story.state);
  });
  ends(story.at(plusMillis(OPENED_AT, 30_000)), tale.ending);
  observe(story.state);
  tale.execution.forEach((next, index) => {
    executes(story.at(plusMillis(OPENED_AT, EXECUTION_STARTS_MS + index)), next);
    observe(story.state);
  });
  return story;
}

function makes(story: AuctionStory, { maker: name, act, price, quantity }: Move, quoteId: string): void {
  const active = activeQuote(story.state, name);
  if (act === 'REFUSED') story.isRefused(name, 'SUBMIT');
  else if (act === 'QUOTE' && active !== undefined) story.revises(name, { price_atoms: price });
  else if (act === 'QUOTE')
    story.submits(name, { quote_id: quoteId, price_atoms: price, quantity_atoms: quantity });
  else if (active !== undefined && act === 'WITHDRAW') story.withdraws(name);
  else if (active !== undefined) story.expires(name);
}

function ends(story: AuctionStory, ending: Tale['ending']): void {
  if (ending === 'CANCELLED') story.cancelled();
  if (ending === 'VOIDED') story.cancelled('OPERATOR');
  if (ending === 'CLOSED') story.closes();
  if (ending === 'DECIDED') decides(story);
}

/** A simple version of the winner rule, so that tales do not depend on the real one. */
function decides(story: AuctionStory): void {
  const { terms: frozen } = story;
  const sign = frozen.side === 'BUY' ? 1 : -1;
  const limit = frozen.limit_price_atoms ?? Infinity * sign;
  const standing = activeQuotes(story.state);
  const counted = standing
    .filter((quote) => sign * (limit - quote.price_atoms) >= 0)
    .sort((a, b) => sign * (a.price_atoms - b.price_atoms) || a.priority - b.priority);
  const won = frozen.allocation === 'SPLIT' ? shares(frozen, counted) : takesAll(frozen, counted);
  const sum = Object.values(won).reduce((total, quantity) => total + quantity, 0);
  if (sum >= frozen.min_fill_quantity_atoms && sum > 0) story.awards(won);
  else if (standing.length === 0) story.awardsNobody('NO_QUOTES');
  else story.awardsNobody(counted.length === 0 ? 'RESERVE_NOT_MET' : 'MINIMUM_NOT_MET');
}

function shares(frozen: Terms, counted: readonly Quote[]): Record<string, number> {
  const won: Record<string, number> = {};
  let left = frozen.quantity_atoms;
  for (const quote of counted) {
    if (left === 0 || quote.min_quantity_atoms > left) continue;
    won[quote.maker] = Math.min(left, quote.quantity_atoms);
    left -= Math.min(left, quote.quantity_atoms);
  }
  return won;
}

function takesAll(frozen: Terms, counted: readonly Quote[]): Record<string, number> {
  const winner = counted.find((quote) => quote.quantity_atoms >= frozen.min_fill_quantity_atoms);
  return winner === undefined ? {} : { [winner.maker]: winner.quantity_atoms };
}

function executes(story: AuctionStory, { maker: name, step }: ExecutionMove): void {
  const ended = (status: string) => status === 'CONFIRMED' || status === 'FAILED';
  const award = story.state.awards.find((one) => one.maker === name);
  if (award === undefined || ended(award.execution_status)) return;
  if (step === 'REFUSED') {
    story.isRefused(name, 'SUBMIT');
    return;
  }
  story.executes(name, step, step === 'FAILED' ? 'venue down' : undefined);
  const statuses = story.state.awards.map((one) => one.execution_status);
  if (!statuses.every(ended)) return;
  const settled = statuses.filter((status) => status === 'CONFIRMED').length;
  const all = settled === statuses.length ? 'SETTLED' : 'PARTIALLY_SETTLED';
  story.completes(settled === 0 ? 'EXECUTION_FAILED' : all);
}
