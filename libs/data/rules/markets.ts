import type { MarketEvent, ListedOutcome, ListingStatus, ResolutionEvent, StatusEvent } from './events.js';
import { compareMoments, type EventMoment } from './order.js';
import { matchedOutcomes, namesAfter, type OutcomeNames } from './outcomes.js';
import { PROVIDER_FACTS, type Provider } from './providers.js';
import { FULL_PRICE } from './scales.js';

/** Events of different types may share both time and id, because identity includes the type. Then the higher number wins. */
const TYPE_PRIORITY = { MARKET: 0, STATUS: 1, RESOLUTION: 2 } as const;

interface StatusOrigin extends EventMoment {
  readonly type: keyof typeof TYPE_PRIORITY;
}

interface StatusRecord extends StatusOrigin {
  readonly status: ListingStatus;
}

interface ResolutionRecord extends EventMoment {
  readonly status: ResolutionEvent['status'];
  readonly payouts: readonly number[];
  readonly source_url?: string;
  readonly disputed?: boolean;
}

/**
 * The state of a market after all its events, in any order. Only the outcome indices depend on order: the first MARKET event fixes
 * them.
 */
export interface FoldedMarket {
  readonly provider: Provider;
  readonly market_id: string;
  /** By `outcome_index`, with the names from the newest MARKET event. */
  readonly outcomes: readonly ListedOutcome[];
  /** By `outcome_index`, all names so far. */
  readonly names: readonly OutcomeNames[];
  /** The newest MARKET event. Its own order of outcomes may differ: use `outcomes` above. */
  readonly details: MarketEvent;
  /** The newest status that an event carried. */
  readonly said?: StatusRecord;
  /** The first event with status `settled`. After it, neither status nor payouts change. */
  readonly settled?: EventMoment;
  /** Ascending. All are kept, because which ones count depends on when the market was settled. */
  readonly resolutions: readonly ResolutionRecord[];
}

/** Why an event is refused as a whole. */
export type MarketRefusal = 'outcomes_differ' | 'payouts_differ';

export type MarketRead =
  | { readonly ok: true; readonly state: FoldedMarket }
  | { readonly ok: false; readonly refusal: MarketRefusal };

/** The first MARKET event of a market. Its order of outcomes never changes. */
export function listedMarket(event: MarketEvent): FoldedMarket {
  const { provider, market_id, outcomes } = event;
  const names = outcomes.map((outcome) => namesAfter(undefined, outcome));
  const state = { provider, market_id, outcomes, names, details: event, resolutions: [] };
  return event.status === undefined ? state : withStatus(state, event, event.status);
}

export function marketAfter(
  state: FoldedMarket,
  event: MarketEvent | StatusEvent | ResolutionEvent,
): MarketRead {
  switch (event.type) {
    case 'MARKET':
      return afterMarket(state, event);
    case 'STATUS':
      return { ok: true, state: withStatus(state, event, event.status) };
    case 'RESOLUTION':
      return afterResolution(state, event);
  }
}

function afterMarket(state: FoldedMarket, event: MarketEvent): MarketRead {
  const matched = matchedOutcomes(state.names, event.outcomes);
  if (matched === undefined) return { ok: false, refusal: 'outcomes_differ' };
  const names = matched.map((outcome, index) => namesAfter(state.names[index], outcome));
  const isNewest = compareMoments(event, state.details) > 0;
  const next = isNewest ? { ...state, names, outcomes: matched, details: event } : { ...state, names };
  return { ok: true, state: event.status === undefined ? next : withStatus(next, event, event.status) };
}

function afterResolution(state: FoldedMarket, event: ResolutionEvent): MarketRead {
  const { source_ts, source_id, status, payouts, source_url, disputed } = event;
  if (payouts.length !== state.outcomes.length) return { ok: false, refusal: 'payouts_differ' };
  const resolution: ResolutionRecord = {
    ...{ source_ts, source_id, status, payouts },
    ...(source_url === undefined ? {} : { source_url }),
    ...(disputed === undefined ? {} : { disputed }),
  };
  const resolutions = [...state.resolutions, resolution].sort(compareMoments);
  return { ok: true, state: withStatus({ ...state, resolutions }, event, status) };
}

function withStatus(state: FoldedMarket, event: StatusOrigin, status: ListingStatus): FoldedMarket {
  const { source_ts, source_id, type } = event;
  const isNewest = state.said === undefined || compareOrigins(event, state.said) > 0;
  const settlesFirst =
    status === 'settled' && (state.settled === undefined || compareMoments(event, state.settled) < 0);
  return {
    ...state,
    ...(isNewest ? { said: { source_ts, source_id, type, status } } : {}),
    ...(settlesFirst ? { settled: { source_ts, source_id } } : {}),
  };
}

function compareOrigins(left: StatusOrigin, right: StatusOrigin): number {
  return compareMoments(left, right) || TYPE_PRIORITY[left.type] - TYPE_PRIORITY[right.type];
}

export function statusOf({ settled, said, provider }: FoldedMarket): ListingStatus {
  return settled === undefined ? (said?.status ?? PROVIDER_FACTS[provider].firstStatus) : 'settled';
}

/** Whether the status says that it trades. */
export function isOpen(state: FoldedMarket): boolean {
  const status = statusOf(state);
  return status === 'open' || status === 'active';
}

/** Open and not past its end. The caller must check whether the provider is hidden. */
export function isLive(state: FoldedMarket, now: number): boolean {
  const { expires_at } = state.details;
  return isOpen(state) && (expires_at === undefined || now <= expires_at);
}

/** The payouts of a market, once known. */
export interface MarketResolution {
  readonly status: ResolutionEvent['status'];
  /** By `outcome_index`, micro-dollars. */
  readonly payouts: readonly number[];
  /** Null if no single outcome pays the full amount. */
  readonly outcome_index: number | null;
  readonly resolved_at: number;
  readonly settled_at: number | null;
  readonly source_url: string | null;
  readonly disputed: boolean;
}

export function resolutionOf(state: FoldedMarket): MarketResolution | undefined {
  const counted = countedResolutions(state);
  const newest = counted.at(-1);
  if (newest === undefined) return undefined;
  const winner = newest.payouts.indexOf(FULL_PRICE);
  return {
    status: state.settled === undefined ? 'resolved' : 'settled',
    payouts: newest.payouts,
    outcome_index: winner === -1 ? null : winner,
    resolved_at: (counted.findLast(({ status }) => status === 'resolved') ?? newest).source_ts,
    settled_at: state.settled?.source_ts ?? null,
    source_url: newest.source_url ?? null,
    disputed: newest.disputed ?? false,
  };
}

/** The resolutions up to the settlement. If the market was settled before any payout was known, the first one counts. */
function countedResolutions({ settled, resolutions }: FoldedMarket): readonly ResolutionRecord[] {
  if (settled === undefined) return resolutions;
  const before = resolutions.filter((resolution) => compareMoments(resolution, settled) <= 0);
  return before.length > 0 ? before : resolutions.slice(0, 1);
}

/** Micro-dollars by `outcome_index`, if the market is resolved or settled. */
export function payoutsOf(state: FoldedMarket): readonly number[] | undefined {
  const status = statusOf(state);
  return status === 'resolved' || status === 'settled' ? resolutionOf(state)?.payouts : undefined;
}
