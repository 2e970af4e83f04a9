import type { MarketOutcome, VenueMarket } from '../../rules/markets.js';
import type { VenueId } from '../../rules/venues.js';
import { wrongField } from '../refusals.js';

export interface NamedOutcome {
  readonly venue: VenueId;
  /** As the caller wrote it. It may be a token id, which also names the outcome. */
  readonly market_id: string;
  readonly token_id?: string;
  readonly outcome?: string;
}

const TOKEN = 'VALIDATION_INVALID_TOKEN';

/** The outcome that the fields name. All fields that name an outcome must agree. */
export function outcomeOf(named: NamedOutcome, market: VenueMarket): MarketOutcome {
  const { venue, outcome, market_id, token_id } = named;
  const byMarket = market.outcomes.find((one) => one.token_id !== undefined && one.token_id === market_id);
  const byToken = tokenOutcome(token_id, market);
  if (byMarket !== undefined && byToken !== undefined && byMarket.index !== byToken.index)
    throw contradiction();
  const named_by = byToken ?? byMarket ?? (venue === 'venue_e' ? market.outcomes[0] : undefined);
  const labelled = market.outcomes.find((one) => one.outcome === outcome);
  if (named_by !== undefined) {
    if (outcome !== undefined && labelled?.index !== named_by.index) throw contradiction();
    return named_by;
  }
  if (labelled === undefined) {
    throw wrongField('VALIDATION_INVALID_ORDER', 'outcome', 'The market has no such outcome');
  }
  return labelled;
}

function tokenOutcome(token_id: string | undefined, market: VenueMarket): MarketOutcome | undefined {
  if (token_id === undefined) return undefined;
  const found = market.outcomes.find((one) => one.token_id === token_id);
  if (found === undefined) throw wrongField(TOKEN, 'token_id', 'The market has no such token');
  return found;
}

function contradiction(): ReturnType<typeof wrongField> {
  return wrongField(TOKEN, 'token_id', 'The token is not that of the outcome');
}
