import type { BookEvent, JsonMembers, MarketDataEvent } from './events.js';
import type { FoldedMarket } from './markets.js';

/** Up to where a source was read, with the events that it gave until then: both are durable together. */
export interface CursorRecord {
  readonly type: 'CURSOR';
  readonly source: string;
  readonly cursor: string;
}

/** Books are not journaled: their newest state is kept. */
export type JournaledMarketData = Exclude<MarketDataEvent, BookEvent>;
export type JournalRecord = JournaledMarketData | CursorRecord;

export class MalformedRecord extends Error {
  constructor(what: string) {
    super(`a journal of market data holds a record that nothing here wrote: ${what}`);
    this.name = 'MalformedRecord';
  }
}

type Kind = 'string' | 'number' | 'bigint' | 'object';
type Shape = Readonly<Record<string, Kind>>;

const SOURCED: Shape = { source_id: 'string', source_ts: 'number', received_at: 'number' };
const OF_MARKET: Shape = { ...SOURCED, provider: 'string', market_id: 'string' };

/** What a record cannot be without. Which members are bigints is said here too, whether they are there or not. */
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

/** One text of JSON, in which bigints are decimal strings. */
export function writeRecord(record: JournalRecord): string {
  return JSON.stringify(written(record));
}

/** Reads what `writeRecord` wrote. Never a guess: anything else throws. */
export function readRecord(text: string): JournalRecord {
  const value: unknown = JSON.parse(text);
  const type = isObject(value) && typeof value.type === 'string' ? value.type : '';
  if (!isObject(value) || !isKnown(type)) throw new MalformedRecord(type === '' ? 'without a type' : type);
  const record = type === 'MARKET' ? withLotSize(value) : withTime(withBigints(value));
  if (!isWhole(record, SHAPES[type])) throw new MalformedRecord(type);
  return record;
}

/**
 * The content by which two events of one identity are compared: receipt, and the order of members, do not matter. Nor does the time of a
 * trade whose source gives none, which is that of receipt.
 */
export function contentOf(event: JournaledMarketData): string {
  const isTimeless = event.type === 'TRADE' && event.source_ts === event.received_at;
  const told = isTimeless ? { ...event, source_ts: undefined } : event;
  return JSON.stringify(sorted(written({ ...told, received_at: undefined })));
}

/** As a row of JSON; its details are an event. */
export function writeMarket(market: FoldedMarket): string {
  return JSON.stringify({ ...market, details: written(market.details) });
}

/** What `writeMarket` wrote, parsed. */
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
