import type { BookEvent, JsonMembers, MarketDataEvent } from './events.js';
import type { FoldedMarket } from './markets.js';

/** The position of a source after the events before it. It is written in the same append, so both become durable together. */
export interface CursorRecord {
  readonly type: 'CURSOR';
  readonly source: string;
  readonly cursor: string;
}

/** Books are not journaled: only their newest state is kept. */
export type JournaledMarketData = Exclude<MarketDataEvent, BookEvent>;
export type JournalRecord = JournaledMarketData | CursorRecord;

export class MalformedRecord extends Error {
  constructor(what: string) {
    super(`the journal of market data contains an invalid record: ${what}`);
    this.name = 'MalformedRecord';
  }
}

type Kind = 'string' | 'number' | 'bigint' | 'object';
type Shape = Readonly<Record<string, Kind>>;

const SOURCED: Shape = { source_id: 'string', source_ts: 'number', received_at: 'number' };
const OF_MARKET: Shape = { ...SOURCED, provider: 'string', market_id: 'string' };

/** The members that every record needs. Also says which members are bigints, required or not. */
const SHAPES: Readonly<Record<JournalRecord['type'], Shape>> = {
  MARKET: { ...OF_MARKET, name: 'string', outcomes: 'object' },
  STATUS: { ...OF_MARKET, status: 'string' },
  TRADE: { ...OF_MARKET, outcome_index: 'number', price: 'number', size: 'bigint' },
  TRADE_BUST: { ...SOURCED, provider: 'string', trade_source_id: 'string' },
  LEDGER: { ...OF_MARKET, wallet: 'string', kind: 'string', size: 'bigint' },
  RESOLUTION: { ...OF_MARKET, status: 'string', payouts: 'object' },
  SCORE: { ...SOURCED, label: 'string', game_id: 'string', content: 'object' },
  TICK: { ...SOURCED, label: 'string', source: 'string', symbol: 'string', price: 'string' },
  CURSOR: { source: 'string', cursor: 'string' },
};

const BIGINTS = ['size', 'fee', 'seq'] as const;

/** JSON, with bigints as decimal strings. */
export function writeRecord(record: JournalRecord): string {
  return JSON.stringify(written(record));
}

/** Reads what `writeRecord` wrote. Anything else throws. */
export function readRecord(text: string): JournalRecord {
  const value: unknown = JSON.parse(text);
  const type = isObject(value) && typeof value.type === 'string' ? value.type : '';
  if (!isObject(value) || !isKnown(type)) throw new MalformedRecord(type === '' ? 'without a type' : type);
  const record = type === 'MARKET' ? withLotSize(value) : withTime(withBigints(value));
  if (!isWhole(record, SHAPES[type])) throw new MalformedRecord(type);
  return record;
}

/**
 * The content by which two events with one identity are compared. The time of receipt and the order of members do not matter; nor
 * does the time of a trade that its source did not date, which is the time of receipt.
 */
export function contentOf(event: JournaledMarketData): string {
  const isTimeless = event.type === 'TRADE' && event.source_ts === event.received_at;
  const content = isTimeless ? { ...event, source_ts: undefined } : event;
  return JSON.stringify(sorted(written({ ...content, received_at: undefined })));
}

/** As JSON for a table row. Its details are a MARKET event. */
export function writeMarket(market: FoldedMarket): string {
  return JSON.stringify({ ...market, details: written(market.details) });
}

/** Reads what `writeMarket` wrote, after parsing. */
export function readMarket(row: unknown): FoldedMarket {
  const details = isObject(row) && isObject(row.details) ? withLotSize(row.details) : undefined;
  const market: unknown = isObject(row) ? { ...row, details } : undefined;
  if (!isMarket(market)) throw new MalformedRecord('a market');
  return market;
}

function isMarket(value: unknown): value is FoldedMarket {
  return (
    isObject(value) &&
    isObject(value.details) &&
    isWhole(value.details, SHAPES.MARKET) &&
    [value.outcomes, value.names, value.resolutions].every(Array.isArray)
  );
}

function written(record: object): object {
  const copy: Record<string, unknown> = { ...record };
  for (const name of BIGINTS) if (typeof copy[name] === 'bigint') copy[name] = copy[name].toString();
  const { contract } = copy;
  if (isObject(contract) && typeof contract.lot_size === 'bigint') {
    copy.contract = { ...contract, lot_size: contract.lot_size.toString() };
  }
  return copy;
}

function withTime(value: JsonMembers): JsonMembers {
  if (value.type !== 'TRADE' || value.source_ts !== undefined) return value;
  return { ...value, source_ts: value.received_at };
}

function withBigints(value: JsonMembers): JsonMembers {
  const copy: Record<string, unknown> = { ...value };
  for (const name of BIGINTS) if (typeof copy[name] === 'string') copy[name] = BigInt(copy[name]);
  return copy;
}

function withLotSize(value: JsonMembers): JsonMembers {
  const { contract } = value;
  if (!isObject(contract) || typeof contract.lot_size !== 'string') return value;
  return { ...value, contract: { ...contract, lot_size: BigInt(contract.lot_size) } };
}

function isWhole(record: JsonMembers, shape: Shape): record is JsonMembers & JournalRecord {
  return Object.keys(shape).every((name) => kindOf(record[name]) === shape[name]);
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

function isKnown(type: string): type is JournalRecord['type'] {
  return Object.hasOwn(SHAPES, type);
}

function isObject(value: unknown): value is JsonMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}
