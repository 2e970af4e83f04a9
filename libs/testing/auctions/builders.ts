import type { ContractFacts, CreateBody, CreateFacts } from '#libs/auction/rules/commands.js';
import type { Decided } from '#libs/auction/rules/decided.js';
import type { QuoteTerms } from '#libs/auction/rules/events.js';
import { holdFor, type Need } from '#libs/auction/rules/holds.js';
import { plusMillis, type Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import { originatorNeed } from '#libs/auction/rules/decide/plan-create.js';
import { needOf } from '#libs/auction/rules/decide/plan-submit.js';
import type { AuctionState } from '#libs/auction/rules/state.js';
import type { Hold, Party, Route, Terms } from '#libs/auction/rules/terms.js';
import { OPENED_AT, storyTerms } from './story.js';

export const CONTRACT = 1_000_000;

/** The moment this many milliseconds after the auction of these tests opened. It closes after 60,000. */
export function at(millis: number): Instant {
  return plusMillis(OPENED_AT, millis);
}

/** The number of outcome tokens that a party has on a route; none by default. */
export type Tokens = (route: Pick<Route, 'venue' | 'contract_id' | 'outcome'>) => Atoms;
export const NO_TOKENS: Tokens = () => 0;

export function aParty(name: string): Party {
  return { account_id: name, display_name: `${name} Ltd`, alias: `alias-of-${name}` };
}

export function aContract(different: Partial<ContractFacts> = {}): ContractFacts {
  return {
    venue: 'venue_a',
    contract_id: 'rain',
    outcome: 'YES',
    title: 'Rain tomorrow',
    equivalence_id: 'rain-yes',
    price_tick_atoms: 1_000,
    quantity_step_atoms: CONTRACT,
    status: 'TRADING',
    closes_at: at(7 * 86_400_000),
    ...different,
  };
}

/** A create body with only the required fields, and without an end. */
export function anEndlessCreate(): CreateBody {
  return {
    side: 'BUY',
    quantity_atoms: 10 * CONTRACT,
    routes: [{ venue: 'venue_a', contract_id: 'rain', outcome: 'YES' }],
    audience: { market_maker_ids: ['mia', 'max'] },
  };
}

export function aCreate(different: Partial<CreateBody> = {}): CreateBody {
  return { ...anEndlessCreate(), duration_ms: 60_000, ...different };
}

export function createFacts(different: Partial<CreateFacts> = {}): CreateFacts {
  return {
    auction_id: '0a000000-0000-8000-8000-000000000001',
    originator: aParty('olga'),
    now: OPENED_AT,
    contracts: [aContract()],
    audience: { ok: true, makers: ['mia', 'max'].map(aParty) },
    policy: undefined,
    ...different,
  };
}

export function grantFor(need: Need, tokens: Tokens = NO_TOKENS): readonly Hold[] {
  return holdFor(need, tokens);
}

/** The auction of `AuctionStory` (buy ten contracts, SPLIT, limit 700,000), opened with the holds that it needs. */
export function anOpenAuction(different: Partial<Terms> = {}, tokens: Tokens = NO_TOKENS): Decided {
  const terms = storyTerms(different);
  const hold = grantFor(originatorNeed(terms), tokens);
  return { at: terms.opened_at, body: { type: 'AUCTION_OPENED', data: { terms, hold } } };
}

/** The next event, where it depends on the state before it. */
export type NextEvent = (state: AuctionState) => Decided;

/** A quote of four contracts at 500,000, one second after the opening. It is accepted whatever the rules would decide. */
export function aQuote(
  maker: string,
  different: Partial<QuoteTerms> = {},
  tokens: Tokens = NO_TOKENS,
): NextEvent {
  return ({ terms }) => {
    const quote = {
      quote_id: `quote-of-${maker}`,
      maker,
      revision: 1,
      price_atoms: 500_000,
      quantity_atoms: 4 * CONTRACT,
      min_quantity_atoms: terms.grid.quantity_step_atoms,
      submitted_at: at(1_000),
      ...different,
    };
    const hold = different.hold ?? grantFor(needOf(terms, quote.price_atoms, quote.quantity_atoms), tokens);
    return { at: quote.submitted_at, body: { type: 'QUOTE_SUBMITTED', data: { quote: { ...quote, hold } } } };
  };
}
