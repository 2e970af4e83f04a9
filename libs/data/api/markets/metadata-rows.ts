import type { JsonMembers } from '../../rules/events.js';
import { isOpen, type FoldedMarket } from '../../rules/markets.js';
import type { Provider } from '../../rules/providers.js';
import type { AnsweredMarket } from '../upstream/answers.js';
import { contractsOrNull, timeOrNull, unitOrNull } from './market-facts.js';

export interface ResolutionRules {
  readonly primary: string | null;
  readonly secondary: string | null;
  readonly source: string | null;
}

export interface MetadataRow {
  /** As the caller sent it. */
  readonly ticker: string;
  readonly provider: Provider;
  readonly name: string | null;
  readonly description: string | null;
  readonly resolution_rules: ResolutionRules;
  readonly contract: {
    readonly tick_size: number | null;
    readonly min_price: number | null;
    readonly max_price: number | null;
    readonly lot_size: number | null;
    readonly quote_currency: string | null;
    readonly settlement_ts: string | null;
    readonly expires_at: string | null;
  };
  readonly images: { readonly icon: string | null; readonly banner: string | null };
  readonly external_url: string | null;
  readonly condition_id: string | null;
  readonly event_id: string | null;
  readonly ctf_neg_risk: boolean | null;
  readonly extra: JsonMembers;
  readonly active: boolean | null;
}

export function indexedMetadata(ticker: string, state: FoldedMarket): MetadataRow {
  const { details, provider } = state;
  const { contract, resolution_rules: rules } = details;
  return {
    ...{ ticker, provider, name: details.name, description: details.description ?? null },
    resolution_rules: {
      primary: rules?.primary ?? null,
      secondary: rules?.secondary ?? null,
      source: rules?.source ?? null,
    },
    contract: {
      tick_size: unitOrNull(contract?.tick_size),
      min_price: unitOrNull(contract?.min_price),
      max_price: unitOrNull(contract?.max_price),
      lot_size: contractsOrNull(contract?.lot_size),
      quote_currency: contract?.quote_currency ?? null,
      settlement_ts: timeOrNull(details.settlement_ts),
      expires_at: timeOrNull(details.expires_at),
    },
    images: { icon: details.icon ?? null, banner: details.banner ?? null },
    ...{ external_url: details.external_url ?? null, condition_id: details.condition_id ?? null },
    ...{ event_id: details.event_id ?? null, ctf_neg_risk: details.ctf_neg_risk ?? null },
    ...{ extra: details.extra ?? {}, active: isOpen(state) },
  };
}

/** Fields that the venue's live answer lacks stay null, such as the event. */
export function liveMetadata(ticker: string, provider: Provider, live: AnsweredMarket): MetadataRow {
  return {
    ...{ ticker, provider, name: live.title, description: live.description },
    resolution_rules: liveRules(live),
    contract: {
      tick_size: unitOrNull(live.tick_size),
      min_price: unitOrNull(live.min_price),
      max_price: unitOrNull(live.max_price),
      lot_size: contractsOrNull(live.lot_size),
      quote_currency: live.quote_currency,
      settlement_ts: null,
      expires_at: timeOrNull(live.expires_at),
    },
    images: { icon: live.icon, banner: live.banner },
    ...{ external_url: live.url, condition_id: null, event_id: null, ctf_neg_risk: null },
    ...{ extra: {}, active: live.active },
  };
}

export function liveRules(live: AnsweredMarket): ResolutionRules {
  return { primary: live.rules_primary, secondary: live.rules_secondary, source: live.rules_source };
}

export function isEmptyRules({ primary, secondary, source }: ResolutionRules): boolean {
  return [primary, secondary, source].every((text) => text === null || text.trim() === '');
}
