import type { FoundMarket } from '../../store/market-reader.js';
import type { JsonMembers, MarketEvent } from '../../rules/events.js';
import { isOpen, statusOf, type FoldedMarket } from '../../rules/markets.js';
import { PROVIDER_FACTS } from '../../rules/providers.js';
import { contracts, unit } from '../../rules/scales.js';
import { isoTime } from '../../rules/times.js';

/** How replies show markets. Unknown values are null. */
export function timeOrNull(micros: number | null | undefined): string | null {
  return micros === undefined || micros === null ? null : isoTime(micros);
}

export function unitOrNull(price: number | null | undefined): number | null {
  return price === undefined || price === null ? null : unit(price);
}

export function contractsOrNull(size: bigint | null | undefined): number | null {
  return size === undefined || size === null ? null : contracts(size);
}

export interface ActiveRow {
  readonly market_id: string;
  readonly condition_id: string | null;
  readonly title: string;
  readonly status: string;
  readonly outcomes: readonly { readonly outcome: string; readonly token_id: string | null }[];
  readonly raw: JsonMembers;
}

export function activeRow(state: FoldedMarket): ActiveRow {
  const { market_id, outcomes, details } = state;
  return {
    market_id,
    condition_id: details.condition_id ?? null,
    title: details.name,
    status: statusOf(state),
    outcomes: outcomes.map(({ label, token_id }) => ({ outcome: label, token_id: token_id ?? null })),
    raw: details.raw ?? asRecorded(details),
  };
}

const TIMES: ReadonlySet<string> = new Set(['source_ts', 'listed_at', 'expires_at', 'settlement_ts']);

/** The event in the form of the recorded source, which has no time of receipt. */
export function asRecorded({ contract, ...event }: MarketEvent): JsonMembers {
  const members = Object.entries<unknown>(event).flatMap(([name, value]) => {
    if (name === 'received_at' || value === undefined) return [];
    return [[name, TIMES.has(name) && typeof value === 'number' ? isoTime(value) : value] as const];
  });
  return {
    ...Object.fromEntries(members),
    ...(contract === undefined ? {} : { contract: recordedContract(contract) }),
  };
}

function recordedContract({
  bands,
  lot_size,
  quote_currency,
  ...prices
}: NonNullable<MarketEvent['contract']>): JsonMembers {
  return {
    ...inUnits(prices),
    ...(lot_size === undefined ? {} : { lot_size: contracts(lot_size) }),
    ...(quote_currency === undefined ? {} : { quote_currency }),
    ...(bands === undefined ? {} : { bands: bands.map(inUnits) }),
  };
}

function inUnits(prices: object): JsonMembers {
  const entries = Object.entries<unknown>({ ...prices });
  return Object.fromEntries(
    entries.flatMap(([name, price]) => (typeof price === 'number' ? [[name, unit(price)] as const] : [])),
  );
}

export interface DetailsRow {
  readonly market_id: string;
  readonly provider_id: number | null;
  readonly event_id: string | null;
  readonly name: string;
  readonly category: string | null;
  readonly status: string;
  readonly condition_id: string | null;
  readonly token_id: string | null;
  readonly token_ids: readonly string[];
  readonly outcomes: readonly string[];
}

/** Both lists contain only outcomes that have a token. */
export function detailsRow(state: FoldedMarket): DetailsRow {
  const { provider, market_id, details } = state;
  const tradeable = state.outcomes.flatMap(({ label, token_id }) =>
    token_id === undefined ? [] : [{ label, token_id }],
  );
  return {
    ...{ market_id, provider_id: PROVIDER_FACTS[provider].numericId },
    ...{ event_id: details.event_id ?? null, name: details.name, category: details.category ?? null },
    ...{ status: statusOf(state), condition_id: details.condition_id ?? null },
    token_id: tradeable[0]?.token_id ?? null,
    token_ids: tradeable.map(({ token_id }) => token_id),
    outcomes: tradeable.map(({ label }) => label),
  };
}

/** Filters out closed markets unless they are asked for. */
export function shownOf(markets: readonly FoundMarket[], withClosed: boolean): readonly FoundMarket[] {
  return withClosed ? markets : markets.filter(({ state }) => isOpen(state));
}
