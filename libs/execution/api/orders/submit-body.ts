import { createHash } from 'node:crypto';
import { parseDecimal } from '#libs/base/decimals.js';
import { plusMillis, type Instant } from '#libs/base/instant.js';
import { NumberToken } from '#libs/edge/decoding/json-scan.js';
import type { JsonRecord } from '#libs/edge/decoding/strict-json.js';
import { toWire } from '../../protocol/wire.js';
import {
  floorSize,
  isLimitAllowed,
  marketBound,
  type OrderKind,
  type OrderSide,
} from '../../rules/amounts.js';
import type { VenueMarket } from '../../rules/markets.js';
import { ONE, timesMicros, type Micros } from '../../rules/micros.js';
import type { OrderChannel, OrderSource, OrderTerms } from '../../rules/order.js';
import { CAPABILITIES, type TimeInForce, type VenueId } from '../../rules/venues.js';
import { BodyFields, isFilled, isPrintable } from '../fields.js';
import { refuse, wrongField } from '../refusals.js';
import { outcomeOf } from './market-of-order.js';

const ORDER = 'VALIDATION_INVALID_ORDER';
const TIF = 'VALIDATION_INVALID_TIF';
const QUANTITY = 'VALIDATION_INVALID_QUANTITY';
const PRICE = 'VALIDATION_INVALID_PRICE';
const COLLATERAL = 'VALIDATION_INVALID_COLLATERAL';
const TIMES_IN_FORCE: readonly TimeInForce[] = ['GTC', 'GTD', 'FOK', 'FAK', 'IOC'];
const CLIENT_ORDER_ID = /^[A-Za-z0-9._:+=/-]{1,64}$/;
/** The form of a cap that is written as a string. */
const CAP_TEXT = /^(?:0|[1-9]\d{0,9})(?:\.\d{1,8})?$/;
const CAP_PLACES = 8;
const CAP_BELOW = 10_000_000_000n * 10n ** BigInt(CAP_PLACES);
const MOST_WAIT_MS = 600_000;
const MOST_QUANTITY = 1_000_000n * ONE;
const KEY_MINIMUM = 5n * ONE;
const MOST_MINUTES = 43_200;
const MINUTE_MS = 60_000;

export const SUBMIT_FIELDS = [
  ...['exchange_id', 'market_id', 'side', 'kind', 'quantity', 'price', 'outcome', 'token_id'],
  ...['time_in_force', 'post_only', 'expiration_minutes', 'client_order_id', 'trigger_price'],
  ...['max_slippage_cents', 'max_slippage', 'max_retries', 'collateral', 'shard_funding'],
  ...['max_bridge_fee_usdc', 'max_funding_wait_ms', 'bot_id', 'source', 'gas_sponsored', 'user_id'],
  ...['orderbook_levels', 'not_after'],
] as const;

/** The context of a submit that does not depend on its body. */
export interface SubmitContext {
  readonly venue: VenueId;
  readonly is_key: boolean;
  /** The smallest quantity that may be bought. */
  readonly minimum: Micros;
}

/** A body that is valid by itself. It is not yet checked against the market. */
export interface OrderBody {
  readonly venue: VenueId;
  readonly market_id: string;
  readonly side: OrderSide;
  readonly kind: OrderKind;
  readonly requested: { readonly quantity: Micros; readonly price: Micros };
  readonly quantity: Micros;
  readonly outcome: string;
  readonly token_id?: string;
  readonly time_in_force: TimeInForce;
  readonly post_only: boolean;
  readonly expiration_minutes?: number;
  readonly client_order_id?: string;
  readonly max_slippage_cents?: number;
  readonly max_slippage?: Micros;
  readonly max_retries: number;
  readonly shard_funding: boolean;
  readonly source: OrderSource;
  readonly bot_id?: string;
  readonly not_after?: Instant;
}

/** Reads the fields of a submit in the order of the contract. The first wrong field is reported. */
export function readSubmit(record: JsonRecord, { venue, is_key, minimum }: SubmitContext): OrderBody {
  const fields = new BodyFields(record, SUBMIT_FIELDS, ORDER);
  const market_id = fields.requiredText('market_id');
  const side = sideOf(fields);
  const kind = fields.word('kind', ['market', 'limit']);
  if (kind === undefined) throw fields.missing('kind');
  const requested = fields.micros('quantity', (value) => value > 0n && value <= MOST_QUANTITY, QUANTITY);
  if (requested === undefined) throw fields.missing('quantity', QUANTITY);
  const price = fields.micros('price', isPrice, PRICE);
  if (price === undefined) throw fields.missing('price', PRICE);
  const outcome = fields.requiredText('outcome');
  const token_id = fields.text('token_id', isFilled, 'VALIDATION_INVALID_TOKEN');
  const { time_in_force, expiration_minutes } = lifetimeOf(fields, venue, kind);
  const post_only = postOnlyOf(fields, { venue, kind, time_in_force });
  const others = otherFieldsOf(fields, is_key);
  const quantity = sizeOf(fields, { venue, side, requested, minimum });
  if (is_key && side === 'buy' && timesMicros(quantity, price, 'down') < KEY_MINIMUM) {
    throw refuse(ORDER, 'A buy with an API key must be worth at least 5 dollars', { field: 'quantity' });
  }
  return {
    ...{ venue, market_id, side, kind, requested: { quantity: requested, price }, quantity, outcome },
    ...{ time_in_force, post_only },
    ...(token_id === undefined ? {} : { token_id }),
    ...(expiration_minutes === undefined ? {} : { expiration_minutes }),
    ...others,
  };
}

type OtherFields = Omit<
  OrderBody,
  | 'venue'
  | 'market_id'
  | 'side'
  | 'kind'
  | 'requested'
  | 'quantity'
  | 'outcome'
  | 'token_id'
  | 'time_in_force'
  | 'post_only'
  | 'expiration_minutes'
>;

function otherFieldsOf(fields: BodyFields, is_key: boolean): OtherFields {
  const client_order_id = fields.text('client_order_id', (text) => CLIENT_ORDER_ID.test(text));
  refuseTrigger(fields);
  const slippage = slippageOf(fields);
  const max_retries = fields.integer('max_retries', 0, 20) ?? 0;
  refuseFunding(fields);
  const shard_funding = fields.flag('shard_funding') ?? true;
  const bot_id = fields.text('bot_id', (text) => isPrintable(text, 64));
  const source = fields.word('source', ['manual', 'bot', 'copytrade', 'api']);
  fields.flag('gas_sponsored');
  fields.text('user_id');
  const levels = fields.valueOf('orderbook_levels');
  if (levels !== undefined && !Array.isArray(levels)) throw fields.wrong('orderbook_levels');
  const not_after = fields.time('not_after');
  return {
    ...(client_order_id === undefined ? {} : { client_order_id }),
    ...slippage,
    ...{ max_retries, shard_funding },
    source: is_key ? 'api' : (source ?? (bot_id === undefined ? 'manual' : 'bot')),
    ...(bot_id === undefined ? {} : { bot_id }),
    ...(not_after === undefined ? {} : { not_after }),
  };
}

function isPrice(value: Micros): boolean {
  return value > 0n && value <= ONE;
}

function sideOf(fields: BodyFields): OrderSide {
  const text = fields.requiredText('side').toLowerCase();
  if (text !== 'buy' && text !== 'sell') throw wrongField(ORDER, 'side', 'side must be buy or sell');
  return text;
}

function lifetimeOf(
  fields: BodyFields,
  venue: VenueId,
  kind: OrderKind,
): Pick<OrderBody, 'time_in_force' | 'expiration_minutes'> {
  const text = fields.text('time_in_force', undefined, TIF) ?? '';
  const wanted = text === '' ? 'GTC' : text.toUpperCase();
  const time_in_force = TIMES_IN_FORCE.find((one) => one === wanted);
  if (time_in_force === undefined) throw fields.wrong('time_in_force', TIF);
  if (!CAPABILITIES[venue].supported_tif.includes(time_in_force)) {
    throw wrongField(TIF, 'time_in_force', `${venue} has no ${time_in_force}`);
  }
  const expiration_minutes = fields.integer('expiration_minutes', 1, MOST_MINUTES);
  const isDated = time_in_force === 'GTD';
  if (isDated && kind === 'market') throw wrongField(TIF, 'time_in_force', 'A market order cannot be GTD');
  if (isDated !== (expiration_minutes !== undefined)) {
    throw wrongField(TIF, 'time_in_force', 'GTD and expiration_minutes go together');
  }
  return expiration_minutes === undefined ? { time_in_force } : { time_in_force, expiration_minutes };
}

function postOnlyOf(
  fields: BodyFields,
  { venue, kind, time_in_force }: Pick<OrderBody, 'venue' | 'kind' | 'time_in_force'>,
): boolean {
  const post_only = fields.flag('post_only') ?? false;
  const canRest = kind === 'limit' && (time_in_force === 'GTC' || time_in_force === 'GTD');
  if (post_only && !(canRest && CAPABILITIES[venue].supports_post_only)) {
    throw wrongField(
      'VALIDATION_POST_ONLY_UNSUPPORTED',
      'post_only',
      'Only limit orders that rest can be post-only, at venues that have it',
    );
  }
  return post_only;
}

/** No venue has triggers. A trigger that was ignored would make the stop order a plain order. */
function refuseTrigger(fields: BodyFields): void {
  if (fields.micros('trigger_price', isPrice, PRICE) === undefined) return;
  throw wrongField('VALIDATION_TRIGGER_UNSUPPORTED', 'trigger_price', 'The venue has no trigger orders');
}

function slippageOf(fields: BodyFields): Pick<OrderBody, 'max_slippage_cents' | 'max_slippage'> {
  const max_slippage_cents = fields.integer('max_slippage_cents', 1, 99);
  const max_slippage = fields.micros('max_slippage', (value) => value >= 0n && value <= ONE / 2n);
  if (max_slippage_cents !== undefined && max_slippage !== undefined) {
    throw wrongField(ORDER, 'max_slippage', 'Only one of max_slippage and max_slippage_cents may be given');
  }
  return {
    ...(max_slippage_cents === undefined ? {} : { max_slippage_cents }),
    ...(max_slippage === undefined ? {} : { max_slippage }),
  };
}

/** The rules of the caps are checked first. They hold even though funding is not available. */
function refuseFunding(fields: BodyFields): void {
  const mode = fields.word('collateral', ['skip', 'check', 'fund'], COLLATERAL) ?? 'skip';
  const caps = ['max_bridge_fee_usdc', 'max_funding_wait_ms'] as const;
  if (mode !== 'fund') {
    const cap = caps.find((name) => fields.has(name));
    if (cap !== undefined) {
      throw wrongField('VALIDATION_FUNDING_CAP_UNEXPECTED', cap, `${cap} is only for collateral fund`);
    }
    if (mode === 'check') throw unfunded(mode);
    return;
  }
  const missing = caps.find((name) => !fields.has(name));
  if (missing !== undefined) {
    throw wrongField('VALIDATION_FUNDING_CAP_REQUIRED', missing, `collateral fund needs ${missing}`);
  }
  if (!isCap(fields.valueOf('max_bridge_fee_usdc'))) throw fields.wrong('max_bridge_fee_usdc', COLLATERAL);
  fields.integer('max_funding_wait_ms', 0, MOST_WAIT_MS, COLLATERAL);
  throw unfunded(mode);
}

function unfunded(mode: string): ReturnType<typeof wrongField> {
  return wrongField(COLLATERAL, 'collateral', `collateral ${mode} is not available`);
}

/** A number, or a string with the same grammar except for the exponent. */
function isCap(value: unknown): boolean {
  const text = value instanceof NumberToken ? value.text : value;
  if (typeof text !== 'string' || (typeof value === 'string' && !CAP_TEXT.test(value))) return false;
  const exact = parseDecimal(text, CAP_PLACES);
  return exact !== undefined && exact.units >= 0n && exact.units < CAP_BELOW;
}

/** The size rounded down to the venue's step. The bounds apply to the rounded size. */
function sizeOf(
  fields: BodyFields,
  {
    venue,
    side,
    requested,
    minimum,
  }: Pick<OrderBody, 'venue' | 'side'> & { requested: Micros; minimum: Micros },
): Micros {
  const quantity = floorSize(venue, side, requested);
  const most = CAPABILITIES[venue].max_order_size;
  const isTooMuch = most !== null && quantity > BigInt(most) * ONE;
  if (quantity === 0n || isTooMuch || (side === 'buy' && quantity < minimum)) {
    throw fields.wrong('quantity', QUANTITY);
  }
  return quantity;
}

export interface AcceptContext {
  readonly user_id: string;
  readonly client_id?: string;
  readonly channel: OrderChannel;
  readonly connection_id?: string;
  /** Makes a key for an order without a client order id. */
  readonly newKey: () => string;
  readonly now: Instant;
}

/** Makes the terms of the order. Checks what depends on the market. */
export function termsOf(
  body: OrderBody,
  market: VenueMarket,
  { user_id, client_id, channel, connection_id, newKey, now }: AcceptContext,
): Omit<OrderTerms, 'order_id'> {
  const { venue, kind, requested, expiration_minutes: minutes } = body;
  const outcome = outcomeOf(body, market);
  if (kind === 'limit' && isLimitAllowed(market, requested.price) === false) {
    throw wrongField(PRICE, 'price', "The price is not on the market's grid");
  }
  const { price } = requested;
  const key = body.client_order_id ?? newKey();
  return {
    ...body,
    ...{ user_id, origin: 'sotto', client_order_id: key, venue, market_id: market.market_id },
    ...(outcome.token_id === undefined ? {} : { token_id: outcome.token_id }),
    ...{ outcome: outcome.outcome, outcome_index: outcome.index, price },
    bound: kind === 'limit' ? price : marketBound(market, { ...body, price }),
    ...(minutes === undefined ? {} : { expires_at: plusMillis(now, minutes * MINUTE_MS) }),
    ...{ collateral: 'skip', channel },
    ...(client_id === undefined ? {} : { client_id }),
    ...(connection_id === undefined ? {} : { connection_id }),
    content: contentOf(body, market.market_id, outcome.outcome),
    market: {
      ...(market.tick_size === undefined ? {} : { tick_size: market.tick_size }),
      ...(market.bands === undefined ? {} : { bands: market.bands }),
      min_size: market.min_size,
      ...(market.shard === undefined ? {} : { shard: market.shard }),
      closes_at: market.closes_at,
    },
  };
}

/** Equal for equal orders, however they are written. Journals store this hash, so the hashed text must never change. */
function contentOf(body: OrderBody, market_id: string, outcome: string): string {
  const { requested, side, kind, time_in_force, post_only, max_retries, shard_funding } = body;
  const content = [
    ...[market_id, outcome, side, kind, requested.quantity, requested.price, time_in_force, post_only],
    ...[body.expiration_minutes ?? null, body.max_slippage_cents ?? null, body.max_slippage ?? null],
    ...[max_retries, 'skip', shard_funding, body.bot_id ?? null],
  ];
  return createHash('sha256').update(toWire(content)).digest('base64url').slice(0, 22);
}
