/** Refusals with 422. */
export type RejectionCode =
  | 'ACTIVE_AUCTION_LIMIT'
  | 'AUCTION_NOT_OPEN'
  | 'AUDIENCE_EMPTY'
  | 'AUDIENCE_MEMBER_UNKNOWN'
  | 'AUDIENCE_TOO_LARGE'
  | 'AUTHORITY_EVIDENCE_STALE'
  | 'COMMAND_EXPIRED'
  | 'GROUP_UNKNOWN'
  | 'INSUFFICIENT_COLLATERAL'
  | 'INSUFFICIENT_INVENTORY'
  | 'INVALID_PRICE_TICK'
  | 'INVALID_QUANTITY_STEP'
  | 'INVALID_SCHEDULE'
  | 'INVALID_TERMS'
  | 'MARKET_CLOSES_BEFORE_AUCTION'
  | 'MARKET_NOT_TRADABLE'
  | 'MMP_FROZEN'
  | 'PRICE_OUT_OF_RANGE'
  | 'PRINCIPAL_NOT_ENTITLED'
  | 'PRINCIPAL_SUSPENDED'
  | 'QUANTITY_BELOW_MINIMUM'
  | 'QUOTE_NOT_REVISABLE'
  | 'QUOTE_NOT_WITHDRAWABLE'
  | 'REVISION_NOT_IMPROVING'
  | 'RISK_EVIDENCE_STALE'
  | 'ROUTES_NOT_EQUIVALENT'
  | 'ROUTE_UNAVAILABLE'
  | 'SERVICE_CAPACITY_EXCEEDED'
  | 'SERVICE_HALTED'
  | 'UNAUTHORIZED_SIZE'
  | 'VENUE_HALTED'
  | 'VENUE_LIMIT_EXCEEDED'
  | 'auction_rejected';

/** Refusals with 409: the caller has an outdated state of the auction. */
export type ConflictCode = 'quote_already_active' | 'quote_revision_conflict';

/** A 422 is durable, so a repeated command gets it again. A 409 is not stored. */
export interface Rejection {
  readonly ok: false;
  readonly status: 409 | 422;
  readonly error: RejectionCode | ConflictCode;
  readonly message: string;
}

export function rejected(error: RejectionCode, message: string): Rejection {
  return { ok: false, status: 422, error, message };
}

export function conflict(error: ConflictCode, message: string): Rejection {
  return { ok: false, status: 409, error, message };
}
