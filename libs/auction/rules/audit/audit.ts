import { auditRanking, type RankingRow, type PseudonymOf } from './audit-ranking.js';
import type { AuctionEvent, AwardTerms, Placed, QuoteTerms } from '../events.js';
import type { Instant } from '#libs/base/instant.js';
import type { AuctionState, AuctionStatus } from '../state.js';
import type { Terms } from '../terms.js';

/** An event from the journal, with the hash that links it to the record before. */
export type ChainedEvent = Placed<AuctionEvent> & { readonly hash: string };

/**
 * All that the outcome of a completed auction follows from, without account names. Enough to apply the winner rule
 * again.
 */
export interface AuditView {
  readonly auction_id: string;
  readonly status: AuctionStatus;
  readonly rule_version: number;
  readonly terms: AuditTerms;
  readonly events: readonly AuditEvent[];
  readonly ranking: readonly RankingRow[];
}

export interface AuditTerms extends Omit<Terms, 'originator' | 'audience' | 'client_reference'> {
  readonly originator: string;
  readonly audience: readonly string[];
}

export interface AuditEvent {
  readonly position: number;
  readonly type: AuctionEvent['type'];
  readonly version: number;
  readonly occurred_at: Instant;
  readonly data: Readonly<Record<string, unknown>>;
  readonly hash: string;
}

export function auditView(
  state: AuctionState,
  events: readonly ChainedEvent[],
  pseudonymOf: PseudonymOf,
): AuditView {
  return {
    auction_id: state.terms.auction_id,
    status: state.status,
    rule_version: state.terms.rule_version,
    terms: auditTerms(state.terms, pseudonymOf),
    events: events.map((chained) => auditEvent(chained, pseudonymOf)),
    ranking: auditRanking(state, pseudonymOf),
  };
}

export function auditEvent({ position, event, hash }: ChainedEvent, pseudonymOf: PseudonymOf): AuditEvent {
  const { type, version, at } = event;
  return { position, type, version, occurred_at: at, data: auditData(event, pseudonymOf), hash };
}

/**
 * Client references are private notes, and connections and operators are not part of an audit, so they are left
 * out. Every field is named here: a field added to an event never reaches an auditor by accident.
 */
function auditData(event: AuctionEvent, pseudonymOf: PseudonymOf): Readonly<Record<string, unknown>> {
  switch (event.type) {
    case 'AUCTION_OPENED':
      return { terms: auditTerms(event.data.terms, pseudonymOf), hold: event.data.hold };
    case 'QUOTE_SUBMITTED':
      return { quote: auditQuote(event.data.quote, pseudonymOf) };
    case 'QUOTE_REVISED':
      return { quote: auditQuote(event.data.quote, pseudonymOf), keeps_priority: event.data.keeps_priority };
    case 'QUOTE_WITHDRAWN':
    case 'QUOTE_EXPIRED':
    case 'QUOTE_REJECTED':
      return auditOfMaker(event, pseudonymOf);
    case 'CANCEL_REJECTED':
      return { error: event.data.error, message: event.data.message };
    case 'AUCTION_CANCELLED':
    case 'AUCTION_VOIDED':
      return { by: event.data.by, ...optional('reason', event.data.reason) };
    case 'AUCTION_CLOSED':
      return {};
    case 'AUCTION_AWARDED':
      return {
        awards: event.data.awards.map((award) => auditAward(award, pseudonymOf)),
        execution_deadline: event.data.execution_deadline,
      };
    case 'AUCTION_NOT_AWARDED':
      return { reason: event.data.reason };
    case 'EXECUTION_SUBMITTED':
    case 'EXECUTION_RETRYING':
    case 'EXECUTION_CONFIRMED':
    case 'EXECUTION_FAILED': {
      const { award_id, attempt, reason } = event.data;
      return { award_id, attempt, ...optional('reason', reason) };
    }
    case 'AUCTION_COMPLETED':
      return { status: event.data.status };
  }
}

type MakerEvent = Extract<AuctionEvent, { type: 'QUOTE_WITHDRAWN' | 'QUOTE_EXPIRED' | 'QUOTE_REJECTED' }>;

function auditOfMaker(event: MakerEvent, pseudonymOf: PseudonymOf) {
  const { quote_id: quoteId, maker } = event.data;
  const whose = { ...optional('quote_id', quoteId), market_maker: pseudonymOf(maker) };
  if (event.type === 'QUOTE_EXPIRED') return whose;
  if (event.type === 'QUOTE_WITHDRAWN') return { ...whose, by: event.data.by };
  const { operation, error, message } = event.data;
  return { ...whose, operation, error, message };
}

function optional(name: string, value: string | undefined): Readonly<Record<string, string>> {
  return value === undefined ? {} : { [name]: value };
}

function auditTerms(terms: Terms, pseudonymOf: PseudonymOf): AuditTerms {
  return {
    auction_id: terms.auction_id,
    rule_version: terms.rule_version,
    originator: pseudonymOf(terms.originator.account_id),
    side: terms.side,
    quantity_atoms: terms.quantity_atoms,
    routes: terms.routes,
    grid: terms.grid,
    ...(terms.limit_price_atoms !== undefined && { limit_price_atoms: terms.limit_price_atoms }),
    min_fill_quantity_atoms: terms.min_fill_quantity_atoms,
    allocation: terms.allocation,
    max_winners: terms.max_winners,
    opened_at: terms.opened_at,
    closes_at: terms.closes_at,
    quote_revision_policy: terms.quote_revision_policy,
    // Sorted by pseudonym: the original order follows the accounts and would identify them across two auctions.
    audience: terms.audience.map((party) => pseudonymOf(party.account_id)).sort(),
    identity_policy: terms.identity_policy,
    result_disclosure: terms.result_disclosure,
    execution_deadline_ms: terms.execution_deadline_ms,
  };
}

function auditQuote(quote: QuoteTerms, pseudonymOf: PseudonymOf) {
  return {
    quote_id: quote.quote_id,
    market_maker: pseudonymOf(quote.maker),
    revision: quote.revision,
    price_atoms: quote.price_atoms,
    quantity_atoms: quote.quantity_atoms,
    min_quantity_atoms: quote.min_quantity_atoms,
    ...(quote.expires_at !== undefined && { expires_at: quote.expires_at }),
    submitted_at: quote.submitted_at,
    hold: quote.hold,
  };
}

function auditAward(award: AwardTerms, pseudonymOf: PseudonymOf) {
  return {
    award_id: award.award_id,
    quote_id: award.quote_id,
    market_maker: pseudonymOf(award.maker),
    price_atoms: award.price_atoms,
    quantity_atoms: award.quantity_atoms,
    maker_hold: award.maker_hold,
    originator_hold: award.originator_hold,
  };
}
