import type { Decided } from '../decided.js';
import type { Instant } from '#libs/base/instant.js';
import { activeQuotes, type AuctionState, type Quote } from '../state.js';

type Expiring = Quote & { readonly expires_at: Instant };

/** Quotes whose time is up, in the order in which it was. */
export function decideExpiries(state: AuctionState, now: Instant): readonly Decided[] {
  return activeQuotes(state)
    .filter((quote): quote is Expiring => quote.expires_at !== undefined && quote.expires_at <= now)
    .sort((a, b) =>
      a.expires_at === b.expires_at ? a.priority - b.priority : a.expires_at < b.expires_at ? -1 : 1,
    )
    .map(({ expires_at: at, quote_id, maker }) => ({
      at,
      body: { type: 'QUOTE_EXPIRED', data: { quote_id, maker } },
    }));
}
