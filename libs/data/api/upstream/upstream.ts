import type { Clock } from '#libs/platform/time/clock.js';
import { REGISTERED, type Provider } from '../../rules/providers.js';
import { readMarket, readTradesOfA, readTradesOfB, type AnsweredMarket, type LiveTrades } from './answers.js';
import { UpstreamHttp } from './upstream-http.js';

/** `failed` is any other result that cannot be used. */
export type UpstreamFault = 'not-found' | 'rate-limited' | 'failed';

export type UpstreamRead<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: UpstreamFault };

const NOT_FOUND = { ok: false, fault: 'not-found' } as const;
const RATE_LIMITED = { ok: false, fault: 'rate-limited' } as const;
const FAILED = { ok: false, fault: 'failed' } as const;

export interface TradesOfB {
  readonly ticker: string;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Reads one venue while a caller waits. Nothing is cached. */
export class Upstream {
  constructor(private readonly http: UpstreamHttp) {}

  async market(id: string): Promise<UpstreamRead<AnsweredMarket>> {
    // Servers would resolve `.` and `..` to other paths, and a lone surrogate cannot be encoded.
    if (id === '.' || id === '..' || !id.isWellFormed()) return NOT_FOUND;
    return this.read(`/markets/${encodeURIComponent(id)}`, readMarket);
  }

  /** By condition ids. */
  tradesOfA(ids: readonly string[], limit: number): Promise<UpstreamRead<LiveTrades>> {
    const query = new URLSearchParams({ market: ids.join(','), limit: String(limit) });
    return this.read(`/trades?${query.toString()}`, readTradesOfA);
  }

  tradesOfB({ ticker, limit, cursor }: TradesOfB): Promise<UpstreamRead<LiveTrades>> {
    const query = new URLSearchParams({ ticker, limit: String(limit) });
    if (cursor !== undefined) query.set('cursor', cursor);
    return this.read(`/markets/trades?${query.toString()}`, readTradesOfB);
  }

  private async read<T>(path: string, read: (body: string) => T | undefined): Promise<UpstreamRead<T>> {
    const answer = await this.http.get(path);
    if (answer === undefined) return FAILED;
    if (answer.status === 404) return NOT_FOUND;
    if (answer.status === 429) return RATE_LIMITED;
    if (answer.status < 200 || answer.status > 299) return FAILED;
    const value = read(answer.body);
    return value === undefined ? FAILED : { ok: true, value };
  }
}

/** The URLs of the venues that have one. */
export type UpstreamUrls = Readonly<Partial<Record<Provider, string>>>;

export class Upstreams {
  private readonly clients = new Map<Provider, UpstreamHttp>();
  private readonly upstreams: ReadonlyMap<Provider, Upstream>;

  constructor(urls: UpstreamUrls, timeoutMillis: number, clock: Clock) {
    for (const provider of REGISTERED) {
      const url = urls[provider];
      if (url !== undefined) this.clients.set(provider, new UpstreamHttp(new URL(url), timeoutMillis, clock));
    }
    this.upstreams = new Map([...this.clients].map(([provider, http]) => [provider, new Upstream(http)]));
  }

  /** Undefined for a venue without a URL. */
  of(provider: Provider): Upstream | undefined {
    return this.upstreams.get(provider);
  }

  close(): void {
    for (const http of this.clients.values()) http.close();
  }
}
