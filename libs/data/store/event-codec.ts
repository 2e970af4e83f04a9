import { createHash } from 'node:crypto';
import type { MarketDataType, MarketDataEvent } from '../rules/events.js';
import { LABELS_SHARD, PROVIDERS } from '../rules/providers.js';

/** What journals of market data hold; a BOOK is in none. */
export type JournaledEvent = Exclude<MarketDataEvent, { readonly type: 'BOOK' }>;

/** Where a source goes on, behind the events that it gave before. */
export interface CursorRecord {
  readonly type: 'CURSOR';
  readonly source: string;
  readonly cursor: string;
}

/** No rule of this build reads such a record. */
export class MalformedDataRecord extends Error {
  override readonly name = 'MalformedDataRecord';
}

/** An event that no table could hold. */
export class UnstorableEvent extends Error {
  override readonly name = 'UnstorableEvent';
}

type Kind = 'string' | 'number' | 'object';
type Shape = Readonly<Record<string, Kind>>;

const OF_MARKET: Shape = { provider: 'string', market_id: 'string' };

/** What a record of each type must have, besides its source id and its times. */
const SHAPES: Readonly<Record<JournaledEvent['type'], Shape>> = {
  MARKET: { ...OF_MARKET, name: 'string', outcomes: 'object' },
  STATUS: { ...OF_MARKET, status: 'string' },
  TRADE: { ...OF_MARKET, outcome_index: 'number', price: 'number', size: 'string' },
  TRADE_BUST: { provider: 'string', trade_source_id: 'string' },
  LEDGER: { ...OF_MARKET, wallet: 'string', kind: 'string', size: 'string' },
  RESOLUTION: { ...OF_MARKET, status: 'string', payouts: 'object' },
  SCORE: { label: 'string', game_id: 'string', content: 'object' },
  TICK: {
    label: 'string',
    source: 'string',
    class: 'string',
    symbol: 'string',
    price: 'string',
    content: 'object',
  },
};

const SOURCED: Shape = { source_id: 'string', source_ts: 'number', received_at: 'number' };
/** Bigints, as decimal strings. */
const LARGE = ['size', 'seq', 'fee'] as const;
const MOST_LARGE = 2n ** 63n - 1n;
const MOST_NAME_BYTES = 1_024;

/** The content with sorted members, so that sources that write alike are seen to; the time of receipt comes first and is no part of it. */
export interface EncodedEvent {
  readonly payload: string;
  readonly digest: Buffer;
}

export function encodeEvent(event: JournaledEvent): EncodedEvent {
  const { received_at, ...content } = event;
  if (LARGE.some((name) => isTooLarge(content, name))) throw new UnstorableEvent('a number is too large');
  if (Buffer.byteLength(event.source_id) > MOST_NAME_BYTES)
    throw new UnstorableEvent('source_id is too long');
  const text = sortedJson(content);
  return { payload: `{"received_at":${String(received_at)},${text.slice(1)}`, digest: digestOf(text) };
}

function isTooLarge(content: object, name: string): boolean {
  const value: unknown = Reflect.get(content, name);
  return typeof value === 'bigint' && (value < 0n || value > MOST_LARGE);
}

export function encodeCursor(source: string, cursor: string): string {
  return JSON.stringify({ type: 'CURSOR', source, cursor } satisfies CursorRecord);
}

/** Of the content of a record, without reading it. */
export function digestOfPayload(payload: string): Buffer {
  return digestOf(`{${payload.slice(payload.indexOf(',') + 1)}`);
}

const DIGEST_BYTES = 8;

function digestOf(content: string): Buffer {
  return createHash('sha256').update(content).digest().subarray(0, DIGEST_BYTES);
}

/** Reads what was written here. Never a guess: what is unknown or broken throws. */
export function decodeRecord(payload: string): JournaledEvent | CursorRecord {
  const read: unknown = JSON.parse(payload);
  if (!isObject(read)) throw new MalformedDataRecord('a record is no object');
  if (isCursor(read)) return read;
  const type = read.type;
  if (!isKnown(type)) throw new MalformedDataRecord(`no rule reads records of type ${String(type)}`);
  const shape = { ...SOURCED, ...SHAPES[type] };
  const broken = Object.keys(shape).find((field) => typeof read[field] !== shape[field]);
  if (broken !== undefined) throw new MalformedDataRecord(`${type} is malformed at ${broken}`);
  const revived = withLarge(read, type);
  if (!isWhole(revived)) throw new MalformedDataRecord(`${type} is of no provider`);
  return revived;
}

function isCursor(
  read: Readonly<Record<string, unknown>>,
): read is Readonly<Record<string, unknown>> & CursorRecord {
  return read.type === 'CURSOR' && typeof read.source === 'string' && typeof read.cursor === 'string';
}

function isKnown(type: unknown): type is JournaledEvent['type'] {
  return typeof type === 'string' && Object.hasOwn(SHAPES, type);
}

/** The hash chain says that this is what was written; deeper members are as they were typed then. */
function isWhole(
  read: Readonly<Record<string, unknown>>,
): read is Readonly<Record<string, unknown>> & JournaledEvent {
  return typeof read.label === 'string' || PROVIDERS.some((provider) => provider === read.provider);
}

/** In place: nobody else has what was just read. */
function withLarge(read: Record<string, unknown>, type: MarketDataType): Record<string, unknown> {
  if (type === 'TRADE' || type === 'LEDGER') {
    for (const name of LARGE) if (typeof read[name] === 'string') read[name] = BigInt(read[name]);
  }
  if (type === 'MARKET' && isObject(read.contract)) {
    const { lot_size: lot } = read.contract;
    if (typeof lot === 'string') read.contract.lot_size = BigInt(lot);
  }
  return read;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Members in the order of their names at every depth; bigints as decimal strings; what is undefined is left out. */
export function sortedJson(value: unknown): string {
  if (typeof value === 'bigint') return `"${value.toString()}"`;
  if (typeof value === 'string') return textJson(value);
  if (Array.isArray(value)) return `[${value.map((item) => sortedJson(item ?? null)).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .filter((name) => value[name] !== undefined)
    .map((name) => `${textJson(name)}:${sortedJson(value[name])}`);
  return `{${members.join(',')}}`;
}

/** Half a character and U+0000 fit into no table. */
function textJson(text: string): string {
  if (!text.isWellFormed() || text.includes('\0'))
    throw new UnstorableEvent('a text holds what no table can');
  return JSON.stringify(text);
}

/** In which journal an event belongs. */
export function shardOf(event: JournaledEvent): number {
  return 'provider' in event ? PROVIDERS.indexOf(event.provider) : LABELS_SHARD;
}
