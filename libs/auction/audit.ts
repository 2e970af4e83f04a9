import { auditRanking, type RankingRow } from './audit-ranking.js';
import type { AuctionEvent, Placed, QuoteTerms } from './events.js';
import type { Instant } from './instant.js';
import type { PseudonymOf } from './pseudonym.js';
import type { AuctionState, AuctionStatus } from './state.js';
import type { Terms } from './terms.js';

/** An event as it stands in the journal, with the hash that chains it to the one before. */
export type Witnessed = Placed<AuctionEvent> & { readonly hash: string };

/** All that a completed auction rests on: enough to apply the winner rule again, and nobody's name. */
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
  events: readonly Witnessed[],
  pseudonymOf: PseudonymOf,
): AuditView {
  return {
    auction_id: state.terms.auction_id,
    status: state.status,
    rule_version: state.terms.rule_version,
    terms: auditTerms(state.terms, pseudonymOf),
    events: events.map((witnessed) => auditEvent(witnessed, pseudonymOf)),
    ranking: auditRanking(state, pseudonymOf),
  };
}

export function auditEvent({ position, event, hash }: Witnessed, pseudonymOf: PseudonymOf): AuditEvent {
  const { type, version, at } = event;
  return { position, type, version, occurred_at: at, data: auditData(event, pseudonymOf), hash };
}

/** Client references are notes of the parties to themselves and connections are no business of an audit: both stay out. */
function auditData(event: AuctionEvent, pseudonymOf: PseudonymOf): Readonly<Record<string, unknown>> {
  switch (event.type) {
    case 'AUCTION_OPENED':
      return { terms: auditTerms(event.data.terms, pseudonymOf), hold: event.data.hold };
    case 'QUOTE_SUBMITTED':
      return { quote: auditQuote(event.data.quote, pseudonymOf) };
    case 'QUOTE_REVISED':
      return { quote: auditQuote(event.data.quote, pseudonymOf), keeps_priority: event.data.keeps_priority };
    case 'AUCTION_AWARDED':
      return {
        awards: event.data.awards.map((award) => renamed(award, pseudonymOf)),
        execution_deadline: event.data.execution_deadline,
      };
    case 'QUOTE_WITHDRAWN':
    case 'QUOTE_EXPIRED':
    case 'QUOTE_REJECTED':
      return renamed(event.data, pseudonymOf);
    default:
      return { ...event.data };
  }
}

/** Fields are named one by one, so that nothing gets to an auditor by being added to the terms. */
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
    audience: terms.audience.map((party) => pseudonymOf(party.account_id)),
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

function renamed<Told extends { readonly maker: string }>(
  { maker, ...rest }: Told,
  pseudonymOf: PseudonymOf,
) {
  return { ...rest, market_maker: pseudonymOf(maker) };
}
