import { type Decoder, MISMATCH, object } from '#libs/edge/decoding/decode.js';
import { NumberToken } from '#libs/edge/decoding/json-scan.js';
import { Reading } from '#libs/edge/decoding/reading.js';
import { isTimeframe, type Timeframe } from '../../rules/candles.js';
import { PROVIDERS, providerOf } from '../../rules/providers.js';
import { microsOfTime } from '../../rules/times.js';
import { bodyBoolean, bodyId, bodyInteger } from '../bodies.js';
import { unknownProviderDetail } from '../refusals.js';
import type { AskedCandles, MeaninglessAsk } from './candle-ask.js';
import { NO_TIMEFRAME, TIMEFRAMES } from './timeframes.js';

export const MOST_ITEMS = 200;

const anyName: Decoder<string> = {
  decode: (value, reading) => {
    if (typeof value === 'string') return value;
    reading?.explain({ type: 'string_type', message: 'It must be text', input: value });
    return MISMATCH;
  },
  describe: () => ({ type: 'string', description: `One of ${PROVIDERS.join(', ')}, in any case` }),
};

const timeframe: Decoder<Timeframe> = {
  decode(value, reading) {
    const seconds = bodyInteger(1).decode(value, reading);
    if (seconds === MISMATCH || isTimeframe(seconds)) return seconds;
    reading?.explain({ ...NO_TIMEFRAME, input: value });
    return MISMATCH;
  },
  describe: () => ({ type: 'integer', enum: TIMEFRAMES }),
};

/** Microseconds. */
const moment: Decoder<number> = {
  decode(value, reading) {
    const micros = typeof value === 'string' ? microsOfTime(value) : undefined;
    if (micros !== undefined) return micros;
    reading?.explain({ type: 'datetime_parsing', message: 'It must be a time of ISO 8601', input: value });
    return MISMATCH;
  },
  describe: () => ({ type: 'string', format: 'date-time' }),
};

export const askedItem = object({
  required: {
    ...{ provider: anyName, contract_id: bodyId, timeframe_seconds: timeframe },
    ...{ start: moment, end: moment },
  },
  optional: { outcome: bodyInteger(0), rebuild: bodyBoolean },
});

/** A bad item gets an error in its own result. The other items are not affected. */
export function readItem(item: unknown): AskedCandles | MeaninglessAsk {
  const reading = new Reading({ unknown: 'ignored', nulls: 'absent' });
  // The parser keeps a number as an object with its text, which is no item.
  const read = item instanceof NumberToken ? MISMATCH : askedItem.decode(item, reading);
  if (read === MISMATCH) return { refused: wrongIn(reading) };
  const provider = providerOf(read.provider);
  if (provider === undefined) return { refused: unknownProviderDetail(read.provider) };
  return { ...read, provider, outcome: read.outcome ?? 0, rebuild: read.rebuild ?? false };
}

function wrongIn({ location }: Reading): string {
  if (location === undefined) return 'It must be an object';
  const [field = ''] = location.path;
  return `${String(field)}: ${location.why?.message ?? (location.reason === 'missing' ? 'It is required' : 'It is wrong')}`;
}

/** Reads the list from `requests`, or from `items`, its former name. */
export const batchBody: Decoder<{ readonly items: readonly unknown[] }> = {
  decode(value, reading) {
    const { requests, items } = membersOf(value);
    const name = requests === undefined && items !== undefined ? 'items' : 'requests';
    const list = name === 'items' ? items : requests;
    const problem = problemOf(list);
    if (Array.isArray(list) && problem === undefined) return { items: list };
    if (problem !== undefined) reading?.explain({ ...problem, input: null });
    reading?.refuse(name, list === undefined ? 'missing' : 'mismatch');
    return MISMATCH;
  },
  describe: () => {
    const list = { type: 'array', items: askedItem.describe(), minItems: 1, maxItems: MOST_ITEMS };
    return {
      type: 'object',
      properties: { requests: list, items: { ...list, deprecated: true } },
      additionalProperties: false,
    };
  },
};

function membersOf(value: unknown): { readonly requests?: unknown; readonly items?: unknown } {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value));
}

function problemOf(list: unknown): { readonly type: string; readonly message: string } | undefined {
  if (list === undefined) return { type: 'missing', message: 'It is required' };
  if (!Array.isArray(list)) return { type: 'list_type', message: 'It must be a list' };
  if (list.length === 0) return { type: 'too_short', message: 'It must have at least 1 entries' };
  if (list.length <= MOST_ITEMS) return undefined;
  return { type: 'too_long', message: `It must have at most ${String(MOST_ITEMS)} entries` };
}
