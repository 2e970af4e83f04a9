import type { FoldedMarket } from '../../rules/markets.js';
import type { Provider } from '../../rules/providers.js';
import type { AnsweredMarket } from '../upstream/answers.js';
import type { Upstream, UpstreamFault } from '../upstream/upstream.js';
import { indexedMetadata, liveMetadata, liveRules, isEmptyRules, type MetadataRow } from './metadata-rows.js';

/** Live reads of venues. `of` returns undefined for a venue without a URL. */
export interface LiveMarkets {
  of(provider: Provider): Pick<Upstream, 'market'> | undefined;
}

export type MetadataRead =
  | { readonly ok: true; readonly row: MetadataRow }
  /** `not-found`: neither the index nor the venue knows the market. */
  | { readonly ok: false; readonly fault: UpstreamFault };

export interface MetadataWish {
  readonly ticker: string;
  readonly provider: Provider;
}

/** Reads from the index, else live from the venue. Resolution rules come from the venue if the index has none. */
export async function readMetadata(
  { ticker, provider }: MetadataWish,
  indexed: FoldedMarket | undefined,
  live: LiveMarkets,
): Promise<MetadataRead> {
  if (indexed === undefined) {
    const read = await readLive(ticker, provider, live);
    return read.ok ? { ok: true, row: liveMetadata(ticker, provider, read.value) } : read;
  }
  const row = indexedMetadata(ticker, indexed);
  if (!isEmptyRules(row.resolution_rules)) return { ok: true, row };
  const read = await readLive(indexed.market_id, provider, live);
  return { ok: true, row: read.ok ? { ...row, resolution_rules: liveRules(read.value) } : row };
}

export async function readLive(
  id: string,
  provider: Provider,
  live: LiveMarkets,
): Promise<
  | { readonly ok: true; readonly value: AnsweredMarket }
  | { readonly ok: false; readonly fault: UpstreamFault }
> {
  const upstream = live.of(provider);
  return upstream === undefined ? { ok: false, fault: 'not-found' } : upstream.market(id);
}
