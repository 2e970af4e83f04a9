import type { ClientBase } from 'pg';
import type { JournalEntry } from '#libs/journal/journal.js';
import type {
  JournalBatch,
  Projection,
  ProjectionWriter,
  Recall,
  SchemaOf,
} from '#libs/projecting/projection.js';
import type { TickEvent } from '../rules/events.js';
import { PROVIDERS } from '../rules/providers.js';
import { readRecord } from '../rules/event-codec.js';
import { MarketTable, type StoredMarket } from '../store/market-table.js';
import { SequenceTable } from '../store/sequence-table.js';
import { TickTable } from '../store/tick-table.js';
import { type CandlesMade, TradeTable } from '../store/trade-table.js';
import { WaitingTable } from '../store/waiting-table.js';
import { type DataRecord, EventBatch, marketIdOf } from './event-batch.js';

const SCHEMA = 'data';
/** For each provider. The limit is low because a market's state may be large. */
const CAPACITY = 4_000;

/** A refused event: it is in the journal, but in no table. */
export interface RefusedEvent {
  readonly shard: number;
  readonly sequence: number;
  readonly reason: string;
}

export type OnRefused = (refused: RefusedEvent) => void;

/** The tables of market data that are built from the journals alone. */
export function dataProjection(
  onRefused: OnRefused,
  candles: CandlesMade = 'at once',
): Projection<StoredMarket> {
  return {
    name: 'market data',
    family: 'data',
    offsets: { schema: SCHEMA, name: 'offsets' },
    tables: PROJECTED.map(([name, key]) => ({ schema: SCHEMA, name, key: key.split(' '), shard: '0' })),
    capacity: CAPACITY,
    writer: (schemaOf) => new DataWriter(schemaOf, onRefused, candles),
  };
}

/** Table names and their keys. */
const PROJECTED = [
  ['markets', 'market_no'],
  ['market_ids', 'provider id kind market_no'],
  ['statuses', 'market_no source_ts source_id type'],
  ['resolutions', 'market_no'],
  ['trades', 'instrument ts seq source_id'],
  ['candles', 'instrument timeframe bucket'],
  ['busts', 'provider trade_source_id'],
  ['sequences', 'market_no first_seq'],
  ['ticks', 'source class symbol'],
  ['dropped', 'only_row'],
  ['waiting', 'shard sequence'],
] as const;

class DataWriter implements ProjectionWriter<StoredMarket> {
  private readonly markets: MarketTable;
  private readonly trades: TradeTable;
  private readonly sequences: SequenceTable;
  private readonly waiting: WaitingTable;
  private readonly ticks: TickTable;

  constructor(
    schemaOf: SchemaOf,
    private readonly onRefused: OnRefused,
    candles: CandlesMade,
  ) {
    this.markets = new MarketTable(schemaOf);
    this.trades = new TradeTable(schemaOf, candles);
    this.sequences = new SequenceTable(schemaOf);
    this.waiting = new WaitingTable(schemaOf);
    this.ticks = new TickTable(schemaOf);
  }

  async apply(
    client: ClientBase,
    { shard, entries }: JournalBatch,
    recall: Recall<StoredMarket>,
  ): Promise<ReadonlyMap<string, StoredMarket>> {
    const records = recordsOf(entries);
    const provider = PROVIDERS[shard];
    if (provider === undefined) {
      await this.ticks.add(client, ticksOf(records));
      return new Map();
    }
    const known = await this.loadMarkets(client, shard, records, recall);
    const listed = records.flatMap(({ event }) =>
      event.type === 'MARKET' && !known.has(event.market_id) ? [event.market_id] : [],
    );
    const waited = await this.waiting.take(client, shard, [...new Set(listed)]);
    const lastNumber = listed.length === 0 ? 0 : await this.markets.lastNumber(client, provider);
    const batch = new EventBatch({
      known,
      lastNumber,
      onRefused: (refused) => this.onRefused({ shard, ...refused }),
    });
    batch.wait(waited.map(({ sequence, payload }) => recordOf(sequence, payload)));
    for (const record of records) batch.take(record);
    await this.write(client, shard, batch);
    return batch.markets;
  }

  /** The markets of these events, in their state before them. */
  private async loadMarkets(
    client: ClientBase,
    shard: number,
    records: readonly DataRecord[],
    recall: Recall<StoredMarket>,
  ): Promise<Map<string, StoredMarket>> {
    const known = new Map<string, StoredMarket>();
    const unknown: string[] = [];
    for (const id of new Set(records.flatMap(({ event }) => marketIdOf(event) ?? []))) {
      const kept = recall(id);
      if (kept === undefined) unknown.push(id);
      else known.set(id, kept);
    }
    const provider = PROVIDERS[shard];
    if (provider === undefined) return known;
    return new Map([...known, ...(await this.markets.find(client, provider, unknown))]);
  }

  private async write(client: ClientBase, shard: number, batch: EventBatch): Promise<void> {
    const provider = PROVIDERS[shard];
    if (provider === undefined) return;
    await this.markets.write(client, provider, batch.changed);
    await this.markets.writeStatuses(client, batch.statuses);
    await this.trades.bust(client, provider, batch.busts);
    await this.trades.add(client, provider, batch.trades);
    await this.sequences.add(client, batch.numbered);
    await this.waiting.add(client, shard, batch.stillWaiting);
  }
}

function recordsOf(entries: readonly JournalEntry[]): DataRecord[] {
  return entries.flatMap(({ kind, sequence, payload }) => {
    if (kind !== 'event') return [];
    const event = readRecord(payload);
    return event.type === 'CURSOR' ? [] : [{ sequence, payload, event }];
  });
}

function recordOf(sequence: number, payload: string): DataRecord {
  const event = readRecord(payload);
  if (event.type === 'CURSOR') throw new TypeError('a cursor waits for no market');
  return { sequence, payload, event };
}

function ticksOf(records: readonly DataRecord[]): TickEvent[] {
  return records.flatMap(({ event }) => (event.type === 'TICK' ? [event] : []));
}
