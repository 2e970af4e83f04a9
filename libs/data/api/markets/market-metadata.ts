import { hiddenFlag, isSetTo, type FlagSettings } from '../../rules/flags.js';
import type { Provider } from '../../rules/providers.js';
import type { FoundMarket, MarketReader } from '../../store/market-reader.js';
import { providerNamed } from '../bodies.js';
import { refuse } from '../refusals.js';
import { refuseUpstream } from '../upstream/refusals.js';
import { inTurns } from './in-turns.js';
import type { Gathered } from './market-batches.js';
import { readMetadata, type LiveMarkets, type MetadataWish } from './metadata-reads.js';
import type { MetadataRow } from './metadata-rows.js';
import { byReplyKey } from './reply-keys.js';

export interface MetadataPorts {
  readonly markets: Pick<MarketReader, 'find'>;
  readonly live: LiveMarkets;
}

export interface BatchWish {
  readonly contracts: readonly { readonly ticker: string; readonly provider: string }[];
  readonly titles_only?: boolean;
}

export type BatchRow =
  | (MetadataRow & { readonly found: true })
  | { readonly found: true; readonly ticker: string; readonly provider: Provider; readonly name: string }
  | { readonly found: false; readonly ticker: string; readonly provider: Provider; readonly error?: string };

interface BatchItem extends MetadataWish {
  readonly market: FoundMarket | undefined;
}

const LIVE_READS = 8;
const RATE_LIMITED = 'Provider error: rate limited';

/** Reads metadata of markets from the index, or live from their venue. */
export class MarketMetadata {
  constructor(private readonly ports: MetadataPorts) {}

  async one(query: MetadataWish): Promise<Gathered<MetadataRow>> {
    const market = await this.indexed(query.provider, [query.ticker]);
    const state = market.get(query.ticker)?.state;
    const read = await readMetadata(query, state, this.ports.live);
    if (read.ok) return { body: read.row, providers: state === undefined ? [] : [query.provider] };
    if (read.fault === 'not-found') throw refuse(404, `Market metadata not found: ${query.ticker}`);
    throw refuseUpstream(query.provider, read.fault, query.ticker);
  }

  /** Rows by ticker. Markets of hidden providers are left out. */
  async many(
    { contracts, titles_only = false }: BatchWish,
    flags: FlagSettings,
  ): Promise<Gathered<Readonly<Record<string, BatchRow>>>> {
    const requested = contracts.map(({ ticker, provider: name }) => {
      const provider = providerNamed(name);
      return { id: ticker, owner: provider, ticker, provider };
    });
    const shown = [...byReplyKey(requested)].filter(
      ([, { provider }]) => !isSetTo(flags, hiddenFlag(provider)),
    );
    const items = await this.items(shown.map(([, query]) => query));
    const rows = titles_only
      ? items.map(titleRow)
      : await inTurns(items, LIVE_READS, (item) => this.row(item));
    const body = Object.fromEntries(shown.flatMap(([key], at) => rowAt(key, rows[at])));
    const fromStore = items.filter(({ market }) => titles_only || market !== undefined);
    return { body, providers: fromStore.map(({ provider }) => provider) };
  }

  private async items(queries: readonly MetadataWish[]): Promise<BatchItem[]> {
    const providers = [...new Set(queries.map(({ provider }) => provider))];
    const found = new Map(
      await Promise.all(
        providers.map(async (provider) => {
          const tickers = queries.filter((query) => query.provider === provider).map(({ ticker }) => ticker);
          return [provider, await this.indexed(provider, tickers)] as const;
        }),
      ),
    );
    return queries.map(({ ticker, provider }) => ({
      ...{ ticker, provider },
      market: found.get(provider)?.get(ticker),
    }));
  }

  private indexed(provider: Provider, tickers: readonly string[]): Promise<ReadonlyMap<string, FoundMarket>> {
    return this.ports.markets.find(provider, tickers, { tickers: true });
  }

  private async row({ market, ...query }: BatchItem): Promise<BatchRow> {
    const read = await readMetadata(query, market?.state, this.ports.live);
    if (read.ok) return { found: true, ...read.row };
    const missing = { found: false as const, ...query };
    return read.fault === 'not-found'
      ? missing
      : { ...missing, error: read.fault === 'failed' ? `Provider error: ${query.provider}` : RATE_LIMITED };
  }
}

function rowAt(key: string, row: BatchRow | undefined): [string, BatchRow][] {
  return row === undefined ? [] : [[key, row]];
}

function titleRow({ ticker, provider, market }: BatchItem): BatchRow {
  return market === undefined
    ? { found: false, ticker, provider }
    : { found: true, ticker, provider, name: market.state.details.name };
}
