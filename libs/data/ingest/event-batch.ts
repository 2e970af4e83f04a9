import type {
  MarketEvent,
  ListingStatus,
  ResolutionEvent,
  StatusEvent,
  TradeEvent,
} from '../rules/events.js';
import { listedMarket, marketAfter } from '../rules/markets.js';
import type { JournaledMarketData } from '../rules/event-codec.js';
import { instrumentOf } from '../store/instruments.js';
import type { SaidStatusRow, StoredMarket } from '../store/market-table.js';
import type { NumberedTrade } from '../store/sequence-table.js';
import type { TradeRow } from '../store/trade-table.js';
import type { WaitingRecord } from '../store/waiting-table.js';

export interface DataRecord {
  readonly sequence: number;
  readonly payload: string;
  readonly event: JournaledMarketData;
}

/** The market that must be known before the event can be applied; undefined if the event needs none. */
export function marketIdOf(event: JournaledMarketData): string | undefined {
  switch (event.type) {
    case 'MARKET':
    case 'STATUS':
    case 'TRADE':
    case 'RESOLUTION':
      return event.market_id;
    default:
      return undefined;
  }
}

interface BatchStart {
  /** By market id: the markets in the batch, in their state before it. */
  readonly known: ReadonlyMap<string, StoredMarket>;
  /** The number of the provider's newest market. */
  readonly lastNumber: number;
  readonly onRefused: (refused: { readonly sequence: number; readonly reason: string }) => void;
}

/** Applies consecutive events of one provider, one by one, so the result does not depend on how the journal is cut into batches. */
export class EventBatch {
  readonly markets: Map<string, StoredMarket>;
  readonly statuses: SaidStatusRow[] = [];
  readonly trades: TradeRow[] = [];
  readonly numbered: NumberedTrade[] = [];
  readonly busts: string[] = [];
  private readonly touched = new Set<string>();
  private readonly waiting = new Map<string, DataRecord[]>();
  private lastNumber: number;

  constructor(private readonly start: BatchStart) {
    this.markets = new Map(start.known);
    this.lastNumber = start.lastNumber;
  }

  get changed(): StoredMarket[] {
    return [...this.touched].flatMap((id) => this.markets.get(id) ?? []);
  }

  get stillWaiting(): WaitingRecord[] {
    return [...this.waiting].flatMap(([market_id, records]) =>
      records.map(({ sequence, payload }) => ({ sequence, market_id, payload })),
    );
  }

  /** Keeps events of markets that are not listed yet. */
  wait(records: readonly DataRecord[]): void {
    for (const record of records) {
      const id = marketIdOf(record.event);
      if (id === undefined) continue;
      const others = this.waiting.get(id);
      if (others === undefined) this.waiting.set(id, [record]);
      else others.push(record);
    }
  }

  take(record: DataRecord): void {
    const { event } = record;
    if (event.type === 'TRADE_BUST') this.busts.push(event.trade_source_id);
    const id = marketIdOf(event);
    if (id === undefined) return;
    const market = this.markets.get(id);
    if (market !== undefined) this.apply(market, record);
    else if (event.type === 'MARKET') this.list(event);
    else this.wait([record]);
  }

  private list(event: MarketEvent): void {
    this.lastNumber += 1;
    const market = { marketNo: this.lastNumber, state: listedMarket(event) };
    this.set(market);
    if (event.status !== undefined) this.addStatus(market, event, event.status);
    const records = this.waiting.get(event.market_id) ?? [];
    this.waiting.delete(event.market_id);
    for (const record of records) this.take(record);
  }

  private apply(market: StoredMarket, { sequence, event }: DataRecord): void {
    if (event.type === 'TRADE') {
      this.trade(market, sequence, event);
    } else if (event.type === 'MARKET' || event.type === 'STATUS' || event.type === 'RESOLUTION') {
      const read = marketAfter(market.state, event);
      if (!read.ok) {
        this.start.onRefused({ sequence, reason: read.refusal });
        return;
      }
      this.set({ ...market, state: read.state });
      if (event.status !== undefined) this.addStatus(market, event, event.status);
    }
  }

  private trade({ marketNo, state }: StoredMarket, sequence: number, event: TradeEvent): void {
    const { outcome_index, seq, source_ts } = event;
    if (outcome_index >= state.outcomes.length) {
      this.start.onRefused({ sequence, reason: 'unknown_outcome' });
      return;
    }
    this.trades.push({ instrument: instrumentOf(marketNo, outcome_index), event });
    if (seq !== undefined) this.numbered.push({ marketNo, seq, ts: source_ts });
  }

  private addStatus(
    { marketNo }: StoredMarket,
    { source_ts, source_id, type }: MarketEvent | StatusEvent | ResolutionEvent,
    status: ListingStatus,
  ): void {
    this.statuses.push({ marketNo, source_ts, source_id, type, status });
  }

  private set(market: StoredMarket): void {
    const { market_id } = market.state;
    this.markets.set(market_id, market);
    this.touched.add(market_id);
  }
}
