import type { FoldedMarket } from '../../rules/markets.js';
import type { Provider } from '../../rules/providers.js';
import type { AnsweredMarket } from '../upstream/answers.js';
import type { Upstream, UpstreamFault } from '../upstream/upstream.js';
import { indexedMetadata, liveMetadata, liveRules, saysNothing, type MetadataRow } from './metadata-rows.js';

/** What is asked of venues while a caller waits. Undefined where a venue has no address. */
export interface LiveMarkets {
  of(provider: Provider): Pick<Upstream, 'market'> | undefined;
}

export type MetadataRead =
  | { readonly ok: true; readonly row: MetadataRow }
  /** `not-found`: no source has it. */
  | { readonly ok: false; readonly fault: UpstreamFault };

export interface MetadataWish {
  readonly ticker: string;
  readonly provider: Provider;
}

/** From the index; else from the venue; and rules from the venue where the index has none. */
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
  if (!saysNothing(row.resolution_rules)) return { ok: true, row };
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
