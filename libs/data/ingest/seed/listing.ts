import type { ContractTerms, GridBand, JsonMembers, MarketEvent } from '../../rules/events.js';
import type { Provider } from '../../rules/providers.js';
import { FULL_PRICE, MILLION } from '../../rules/scales.js';
import { digest, type VenueIds } from './identities.js';

/** The texts of a market, without its ids. */
export interface MarketWords {
  readonly title: string;
  readonly rules: string;
  readonly rulesSource: string | null;
  readonly ticker: string;
  readonly event: { readonly key: string; readonly name: string };
  readonly series: { readonly key: string; readonly title: string };
  readonly category: string;
  readonly subcategory: string;
  readonly tags: readonly string[];
  readonly crypto?: JsonMembers;
  readonly sports?: JsonMembers;
  readonly terms?: JsonMembers;
  /** Exactly one of the event's markets pays. */
  readonly isExclusive?: boolean;
}

interface Listed {
  readonly provider: Provider;
  readonly ids: VenueIds;
  readonly listedAt: number;
  readonly expiresAt: number;
  /** As planned. */
  readonly settlesAt: number;
  readonly tick: number;
}

const CENT = 10_000;
const TENTH = FULL_PRICE / 10;

export function listingOf(words: MarketWords, listed: Listed): MarketEvent {
  const { provider, ids, listedAt, expiresAt, settlesAt } = listed;
  const { ticker, category, subcategory, tags, event, series } = words;
  const slug = slugOf(words.title);
  const site = `https://${provider.replace('_', '-')}.example`;
  const event_id = `${event.key.toLowerCase()}-${provider.slice(-1)}`;
  const isB = provider === 'venue_b';
  return {
    ...{ type: 'MARKET', provider, market_id: ids.market_id, source_id: `${ids.market_id}@1` },
    ...{ source_ts: listedAt, received_at: listedAt, name: words.title, outcomes: ids.outcomes },
    ...(ids.condition_id === undefined ? {} : { condition_id: ids.condition_id }),
    ...{ event_id, event_name: event.name, event_url: `${site}/events/${event_id}` },
    ...{ series_key: series.key, series_title: series.title, slug },
    ...(isB ? { ticker } : {}),
    ...(provider === 'venue_e' ? {} : { description: `${words.title} ${words.rules}` }),
    ...{ category, subcategory, tags: tags.map((name) => ({ id: slugOf(name), name })) },
    ...{ listed_at: listedAt, expires_at: expiresAt, settlement_ts: settlesAt },
    ...{ icon: `${site}/icons/${series.key.toLowerCase()}.png` },
    ...(isB ? {} : { image: `${site}/images/${slug}.png`, banner: `${site}/banners/${event_id}.png` }),
    external_url: `${site}/markets/${slug}`,
    ...(provider === 'venue_a'
      ? { ctf_neg_risk: words.isExclusive ?? false, raw: rawOf(words, listed) }
      : {}),
    resolution_rules: { primary: words.rules, secondary: null, source: words.rulesSource },
    contract: contractOf(listed),
    ...(words.crypto === undefined ? {} : { crypto: words.crypto }),
    ...(words.sports === undefined ? {} : { sports: words.sports }),
    ...(words.sports === undefined || provider !== 'venue_a' ? {} : { combo: comboOf(ids) }),
    ...(words.terms === undefined ? {} : { terms: words.terms }),
  };
}

const CURRENCIES = {
  ...{ venue_a: 'USDC', venue_b: 'USD', venue_c: 'USDT', venue_d: 'USDT', venue_e: 'USDC', venue_f: 'USD' },
} as const;

/** With bands, venue_b has finer steps near 0 and 1. */
function contractOf({ provider, tick }: Listed): ContractTerms {
  const isB = provider === 'venue_b';
  const isWhole = isB || provider === 'venue_e';
  return {
    ...{ tick_size: tick, min_price: tick, max_price: FULL_PRICE - tick },
    ...{ lot_size: isWhole ? MILLION : MILLION / 100n, quote_currency: CURRENCIES[provider] },
    ...(isB && tick < CENT ? { bands: bandsOf(tick) } : {}),
  };
}

function bandsOf(fine: number): readonly GridBand[] {
  return [
    { start: 0, end: TENTH, step: fine },
    { start: TENTH, end: FULL_PRICE - TENTH, step: CENT },
    { start: FULL_PRICE - TENTH, end: FULL_PRICE, step: fine },
  ];
}

/** The ids that combined positions of several games use for this market. */
function comboOf({ market_id }: VenueIds): JsonMembers {
  const position = (side: string): string => BigInt(`0x${digest('position', market_id, side)}`).toString();
  return { yes_position_id: position('yes'), no_position_id: position('no') };
}

/** A part of the venue's own body, unchanged. */
function rawOf(words: MarketWords, { ids }: Listed): JsonMembers {
  return {
    ...{ id: ids.market_id, question: words.title, conditionId: ids.condition_id ?? '', active: true },
    clobTokenIds: ids.outcomes.map(({ token_id }) => token_id ?? ''),
  };
}

const LONGEST_SLUG = 90;

export function slugOf(text: string): string {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return plain
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, LONGEST_SLUG);
}
