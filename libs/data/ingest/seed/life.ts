import type { ListingStatus, MarketDataEvent, MarketEvent, ResolutionEvent } from '../../rules/events.js';
import { PROVIDER_FACTS } from '../../rules/providers.js';
import { FULL_PRICE } from '../../rules/scales.js';
import { MICROS_PER_SECOND } from '../../rules/times.js';
import { HOUR } from './calendar.js';

/** The planned events of a market. Times are microseconds. */
export interface LifePlan {
  readonly closes: number;
  readonly resolves: number;
  readonly settles: number;
  /** By outcome. */
  readonly payouts: readonly number[];
  /** The first payouts, which were disputed, and when they are corrected. */
  readonly disputed?: { readonly payouts: readonly number[]; readonly corrects: number };
  /** It ends before its scheduled time. A later MARKET event says so. */
  readonly isEarly?: boolean;
  readonly halted?: { readonly from: number; readonly until: number };
  /** A later MARKET event lists the outcomes in another order, with a finer tick. */
  readonly revises?: { readonly at: number; readonly tick: number };
}

/** Ascending by time. */
export function lifeOf(listing: MarketEvent, plan: LifePlan): readonly MarketDataEvent[] {
  const { closes, resolves, settles, payouts, disputed, halted, revises } = plan;
  const events: MarketDataEvent[] = [listing];
  const { tick_size: coarse = FULL_PRICE } = listing.contract ?? {};
  if (revises !== undefined) events.push(revised(listing, revises, Math.min(coarse, revises.tick)));
  if (halted !== undefined) {
    events.push(statusOf(listing, halted.from, 'closed'));
    events.push(statusOf(listing, halted.until, PROVIDER_FACTS[listing.provider].firstStatus));
  }
  events.push(statusOf(listing, closes, 'closed'));
  if (plan.isEarly === true) events.push(endedEarly(listing, closes, settles));
  events.push(
    disputed === undefined
      ? resolutionOf(listing, resolves, { status: 'resolved', payouts })
      : resolutionOf(listing, resolves, { status: 'resolved', payouts: disputed.payouts, disputed: true }),
  );
  if (disputed !== undefined) {
    events.push(resolutionOf(listing, disputed.corrects, { status: 'resolved', payouts, disputed: false }));
  }
  events.push(resolutionOf(listing, settles, { status: 'settled', payouts }));
  return events.sort((left, right) => left.received_at - right.received_at);
}

const ONE_SECOND = MICROS_PER_SECOND;

function envelope(
  { provider, market_id }: MarketEvent,
  at: number,
  what: string,
): Pick<MarketEvent, 'provider' | 'market_id' | 'source_id' | 'source_ts' | 'received_at'> {
  const source_id = `${market_id}@${what}-${String(Math.floor(at / ONE_SECOND))}`;
  return { provider, market_id, source_id, source_ts: at, received_at: at };
}

function statusOf(listing: MarketEvent, at: number, status: ListingStatus): MarketDataEvent {
  return { type: 'STATUS', ...envelope(listing, at, status), status };
}

/** Payouts follow the order of the listing, which fixed the indices. */
function resolutionOf(
  listing: MarketEvent,
  at: number,
  resolution: Pick<ResolutionEvent, 'status' | 'payouts' | 'disputed'>,
): MarketDataEvent {
  const source_url = `${listing.external_url ?? ''}/resolution`;
  return { type: 'RESOLUTION', ...envelope(listing, at, resolution.status), ...resolution, source_url };
}

function later(listing: MarketEvent, at: number, what: string): MarketEvent {
  return { ...listing, ...envelope(listing, at, what) };
}

function revised(listing: MarketEvent, { at }: { readonly at: number }, tick_size: number): MarketEvent {
  const contract = {
    ...listing.contract,
    tick_size,
    min_price: tick_size,
    max_price: FULL_PRICE - tick_size,
  };
  return { ...later(listing, at, 'revised'), outcomes: [...listing.outcomes].reverse(), contract };
}

function endedEarly(listing: MarketEvent, at: number, settles: number): MarketEvent {
  return { ...later(listing, at + HOUR / 60, 'early'), expires_at: at, settlement_ts: settles };
}
