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

/** Everything about markets: from the index, else from their venue. */
export class MarketMetadata {
  constructor(private readonly ports: MetadataPorts) {}

  async one(wish: MetadataWish): Promise<Gathered<MetadataRow>> {
    const market = await this.indexed(wish.provider, [wish.ticker]);
    const state = market.get(wish.ticker)?.state;
    const read = await readMetadata(wish, state, this.ports.live);
    if (read.ok) return { body: read.row, providers: state === undefined ? [] : [wish.provider] };
    if (read.fault === 'not-found') throw refuse(404, `Market metadata not found: ${wish.ticker}`);
    throw refuseUpstream(wish.provider, read.fault, wish.ticker);
  }

  /** Each under its ticker, hidden providers left out. */
  async many(
    { contracts, titles_only = false }: BatchWish,
    flags: FlagSettings,
  ): Promise<Gathered<Readonly<Record<string, BatchRow>>>> {
    const asked = contracts.map(({ ticker, provider: name }) => {
      const provider = providerNamed(name);
      return { id: ticker, owner: provider, ticker, provider };
    });
    const shown = [...byReplyKey(asked)].filter(([, { provider }]) => !isSetTo(flags, hiddenFlag(provider)));
    const items = await this.items(shown.map(([, wish]) => wish));
    const rows = titles_only
      ? items.map(titleRow)
      : await inTurns(items, LIVE_READS, (item) => this.row(item));
    const body = Object.fromEntries(shown.flatMap(([key], at) => rowAt(key, rows[at])));
    const fromStore = items.filter(({ market }) => titles_only || market !== undefined);
    return { body, providers: fromStore.map(({ provider }) => provider) };
  }

  private async items(wishes: readonly MetadataWish[]): Promise<BatchItem[]> {
    const providers = [...new Set(wishes.map(({ provider }) => provider))];
    const found = new Map(
      await Promise.all(
        providers.map(async (provider) => {
          const tickers = wishes.filter((wish) => wish.provider === provider).map(({ ticker }) => ticker);
          return [provider, await this.indexed(provider, tickers)] as const;
        }),
      ),
    );
    return wishes.map(({ ticker, provider }) => ({
      ...{ ticker, provider },
      market: found.get(provider)?.get(ticker),
    }));
  }

  private indexed(provider: Provider, tickers: readonly string[]): Promise<ReadonlyMap<string, FoundMarket>> {
    return this.ports.markets.find(provider, tickers, { tickers: true });
  }

  private async row({ market, ...wish }: BatchItem): Promise<BatchRow> {
    const read = await readMetadata(wish, market?.state, this.ports.live);
    if (read.ok) return { found: true, ...read.row };
    const missing = { found: false as const, ...wish };
    return read.fault === 'not-found'
      ? missing
      : { ...missing, error: read.fault === 'failed' ? `Provider error: ${wish.provider}` : RATE_LIMITED };
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
