import { must } from './violation.js';

const DOCUMENTED = 'documented codes only';

/** Answers allowed for every command, as docs/reference/errors.md lists them. Repeated here on purpose. */
const TO_ALL = `
  400 idempotency_key_required, 400 invalid_json, 403 forbidden, 409 idempotency_key_conflict,
  409 idempotency_key_in_progress, 429 auction_mutation_rate_limited, 503 auction_owner_unavailable,
  503 owner_routing_unavailable, 503 owner_response_invalid`;
const ON_AUCTION = '404 auction_not_found, 422 AUCTION_NOT_OPEN, 422 INVALID_TERMS';
const JUDGED = `
  422 INSUFFICIENT_COLLATERAL, 422 INSUFFICIENT_INVENTORY, 422 INVALID_PRICE_TICK, 422 INVALID_QUANTITY_STEP,
  422 INVALID_TERMS, 422 MARKET_NOT_TRADABLE, 422 PRICE_OUT_OF_RANGE, 422 PRINCIPAL_NOT_ENTITLED,
  422 PRINCIPAL_SUSPENDED, 422 RISK_EVIDENCE_STALE, 422 AUTHORITY_EVIDENCE_STALE, 422 SERVICE_CAPACITY_EXCEEDED,
  422 UNAUTHORIZED_SIZE, 422 VENUE_LIMIT_EXCEEDED, 503 clock_unhealthy`;
const QUOTED = `${ON_AUCTION}, ${JUDGED}, 422 MMP_FROZEN, 422 QUANTITY_BELOW_MINIMUM`;
const ON_QUOTE = '404 quote_not_found, 409 quote_revision_conflict';

const REFUSALS: Readonly<Record<string, ReadonlySet<string>>> = {
  CREATE: codes(`${JUDGED}, 422 ACTIVE_AUCTION_LIMIT, 422 AUDIENCE_EMPTY, 422 AUDIENCE_MEMBER_UNKNOWN,
    422 GROUP_UNKNOWN, 422 INVALID_SCHEDULE, 422 MARKET_CLOSES_BEFORE_AUCTION, 422 ROUTES_NOT_EQUIVALENT,
    422 ROUTE_UNAVAILABLE, 503 projection_backlog, 503 journal_capacity_unhealthy`),
  CANCEL: codes(ON_AUCTION),
  SUBMIT: codes(`${QUOTED}, 409 quote_already_active, 422 COMMAND_EXPIRED`),
  REVISE: codes(`${QUOTED}, ${ON_QUOTE}, 422 QUOTE_NOT_REVISABLE, 422 REVISION_NOT_IMPROVING`),
  WITHDRAW: codes(`${ON_AUCTION}, ${ON_QUOTE}, 422 QUOTE_NOT_WITHDRAWABLE, 422 SERVICE_CAPACITY_EXCEEDED`),
  WITHDRAW_ALL: codes('422 INVALID_TERMS'),
};
const CREATING: ReadonlySet<string> = new Set(['CREATE', 'SUBMIT']);

function codes(text: string): ReadonlySet<string> {
  return new Set(`${TO_ALL}, ${text}`.split(',').map((code) => code.trim()));
}

/** Fails unless the status and code are documented for the operation. */
export function mustBeDocumented(
  operation: string,
  status: number,
  error: string | undefined,
  what: () => string,
): void {
  const isDocumented =
    error === undefined
      ? status === 200 || (status === 201 && CREATING.has(operation))
      : REFUSALS[operation]?.has(`${status} ${error}`) === true;
  must(isDocumented, DOCUMENTED, what);
}
