import { createHash } from 'node:crypto';
import type { MarketEvent, ResolutionEvent, StatusEvent } from '../../rules/events.js';
import type { Provider } from '../../rules/providers.js';
import type { SeenMarket } from './protocol.js';

type ListingEvent = MarketEvent | StatusEvent | ResolutionEvent;

interface KnownMarket {
  readonly terms: string;
  readonly state: string;
}

const HASH_CHARS = 16;

/** Makes events for what changed in markets since the last read. After a restart all is new, but under the same identities. */
export class MarketChanges {
  private readonly known = new Map<string, KnownMarket>();

  constructor(private readonly provider: Provider) {}

  knows(marketId: string): boolean {
    return this.known.has(marketId);
  }

  eventsOf(market: SeenMarket, now: number): readonly ListingEvent[] {
    const { terms, status, resolution, changed_at: at = now } = market;
    const { market_id } = terms;
    const before = this.known.get(market_id);
    const hash = hashOf(terms);
    const state = resolution === undefined ? status : resolutionText(resolution);
    this.known.set(market_id, { terms: hash, state });
    const common = { provider: this.provider, market_id, received_at: now };
    const events: ListingEvent[] = [];
    if (before?.terms !== hash) {
      const source = { source_id: `${market_id}@${String(at)}:${hash}`, source_ts: at };
      events.push({ type: 'MARKET', ...terms, ...common, ...source });
    }
    if (before?.state === state) return events;
    const source_ts = resolution === undefined ? at : (market.resolved_at ?? at);
    const source = { source_id: `${market_id}@${String(source_ts)}:${state}`, source_ts };
    if (resolution === undefined) events.push({ type: 'STATUS', ...common, ...source, status });
    else events.push({ type: 'RESOLUTION', ...common, ...source, ...resolution });
    return events;
  }
}

function resolutionText({ status, payouts, disputed }: NonNullable<SeenMarket['resolution']>): string {
  return [status, ...payouts, ...(disputed === true ? ['disputed'] : [])].join('/');
}

function hashOf(terms: SeenMarket['terms']): string {
  const text = JSON.stringify(terms, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS);
}
