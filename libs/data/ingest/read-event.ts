import { MISMATCH, type Decoder, type Mismatch } from '#libs/edge/decoding/decode.js';
import { Reading } from '#libs/edge/decoding/reading.js';
import { parseJson, type JsonRules } from '#libs/edge/decoding/strict-json.js';
import type { MarketDataType, LedgerEvent, MarketDataEvent, ListedOutcome } from '../rules/events.js';
import { PROVIDER_FACTS } from '../rules/providers.js';
import { FULL_PRICE } from '../rules/scales.js';
import * as shapes from './event-shapes.js';

/** Why a line of the recorded source is refused. */
export type LineRefusal = 'not_json' | 'unknown_type' | 'missing_field' | 'bad_value' | 'too_long';

export type LineRead =
  | { readonly ok: true; readonly event: MarketDataEvent }
  | { readonly ok: false; readonly reason: LineRefusal };

export const LONGEST_LINE = 1024 * 1024;
const RULES: JsonRules = { numbers: 'raw', maxDepth: 64, nulls: 'absent' };
const LEAST_OUTCOMES = 2;

/** Reads one line without its newline. A trade without a time gets the time of receipt. */
export function readEvent(line: Uint8Array, receivedAt: number): LineRead {
  if (line.byteLength > LONGEST_LINE) return { ok: false, reason: 'too_long' };
  const parsed = parseJson(line, RULES);
  if (!parsed.ok) return { ok: false, reason: 'not_json' };
  const { type } = parsed.value;
  if (type === undefined || type === null) return { ok: false, reason: 'missing_field' };
  if (typeof type !== 'string' || !isKnown(type)) return { ok: false, reason: 'unknown_type' };
  const event = READERS[type](parsed.value, receivedAt);
  return typeof event === 'string' ? { ok: false, reason: event } : { ok: true, event };
}

function isKnown(type: string): type is MarketDataType {
  return Object.hasOwn(READERS, type);
}

type FieldRefusal = 'missing_field' | 'bad_value';
type EventReader = (line: unknown, receivedAt: number) => MarketDataEvent | FieldRefusal;

/** Decodes the fields; `build` checks what needs several fields, and makes the event. */
function reader<F>(
  shape: Decoder<F>,
  build: (fields: F, receivedAt: number) => MarketDataEvent | FieldRefusal,
): EventReader {
  return (line, receivedAt) => {
    const reading = new Reading({ unknown: 'ignored', nulls: 'absent' });
    const fields: F | Mismatch = shape.decode(line, reading);
    if (fields !== MISMATCH) return build(fields, receivedAt);
    return reading.location?.reason === 'missing' ? 'missing_field' : 'bad_value';
  };
}

const READERS: Readonly<Record<MarketDataType, EventReader>> = {
  MARKET: reader(shapes.MARKET, ({ resolution_rules: rules, ...fields }, received_at) => {
    if (!areDistinct(fields.outcomes)) return 'bad_value';
    const none = { primary: null, secondary: null, source: null };
    const resolution_rules = rules === undefined ? {} : { resolution_rules: { ...none, ...rules } };
    return { type: 'MARKET', ...fields, ...resolution_rules, received_at };
  }),
  STATUS: reader(shapes.STATUS, (fields, received_at) => ({ type: 'STATUS', ...fields, received_at })),
  TRADE: reader(shapes.TRADE, (fields, received_at) => ({
    ...{ type: 'TRADE', source_ts: received_at },
    ...fields,
    received_at,
  })),
  TRADE_BUST: reader(shapes.TRADE_BUST, (fields, received_at) => ({
    type: 'TRADE_BUST',
    ...fields,
    received_at,
  })),
  BOOK: reader(shapes.BOOK, (fields, received_at) => {
    if (PROVIDER_FACTS[fields.provider].isSingleBook && fields.outcome_index !== 0) return 'bad_value';
    return { type: 'BOOK', ...fields, received_at };
  }),
  LEDGER: reader(shapes.LEDGER, (fields, received_at) =>
    ledgerEvent({ type: 'LEDGER', ...fields, received_at }),
  ),
  RESOLUTION: reader(shapes.RESOLUTION, (fields, received_at) => {
    const sum = fields.payouts.reduce((all, payout) => all + payout, 0);
    if (fields.payouts.length < LEAST_OUTCOMES || sum !== FULL_PRICE) return 'bad_value';
    return { type: 'RESOLUTION', ...fields, received_at };
  }),
  SCORE: reader(
    shapes.SCORE,
    ({ provider: label, source_id, source_ts, game_id, ...content }, received_at) => ({
      type: 'SCORE',
      ...{ label, source_id, source_ts, received_at, game_id, content },
    }),
  ),
  TICK: reader(shapes.TICK, ({ provider: label, source_id, source_ts, ...fields }, received_at) => {
    const { source, class: of, symbol, price, ...content } = fields;
    if (of === 'perpetual' && PERPETUAL_FIELDS.some((name) => content[name] === undefined)) {
      return 'missing_field';
    }
    return {
      type: 'TICK',
      ...{ label, source_id, source_ts, received_at, source, class: of, symbol, price, content },
    };
  }),
};

const PERPETUAL_FIELDS = ['index', 'funding_rate', 'next_funding_at', 'open_interest'] as const;

/** Names of outcomes must be unique, so that later events can be matched to outcomes. */
function areDistinct(outcomes: readonly ListedOutcome[]): boolean {
  const tokens = outcomes.flatMap(({ token_id }) => (token_id === undefined ? [] : [token_id]));
  const labels = outcomes.filter(({ token_id }) => token_id === undefined).map(({ label }) => label);
  return (
    outcomes.length >= LEAST_OUTCOMES &&
    new Set(tokens).size === tokens.length &&
    new Set(labels).size === labels.length
  );
}

/** A split or merge concerns all outcomes, any other entry exactly one. Only bought and sold entries have a price. */
function ledgerEvent({ outcome_index, price, ...event }: LedgerEvent): LedgerEvent | FieldRefusal {
  const isOfAll = event.kind === 'SPLIT' || event.kind === 'MERGE';
  const isTraded = event.kind === 'BUY' || event.kind === 'SELL';
  if ((!isOfAll && outcome_index === undefined) || (isTraded && price === undefined)) return 'missing_field';
  return {
    ...event,
    ...(isOfAll || outcome_index === undefined ? {} : { outcome_index }),
    ...(isTraded && price !== undefined ? { price } : {}),
  };
}
