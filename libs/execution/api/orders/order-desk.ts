import { instantFromNanos, type Instant } from '#libs/base/instant.js';
import type { JsonRecord } from '#libs/edge/decoding/strict-json.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { ApiCaller } from '#libs/identity/api-keys/authenticate.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { CellReplies } from '../../protocol/cell-replies.js';
import { ONE, printMicros, type Micros } from '../../rules/micros.js';
import type { OrderChannel } from '../../rules/order.js';
import { CAPABILITIES, type VenueId } from '../../rules/venues.js';
import { orderCaller } from '../caller.js';
import { AMEND_PATIENCE_MS, venueOfOrder, type Cells } from '../cells.js';
import { marked, usesDeprecated } from '../deprecations.js';
import { BodyFields, isPrintable } from '../fields.js';
import { isUuidText } from '../params.js';
import type { PlatformAccess } from '../platform-access.js';
import { answering, errorDetails, rateHeaders, refusal, refuse, wrongField } from '../refusals.js';
import type { Venues } from '../venues.js';
import { readSubmit, termsOf } from './submit-body.js';

const ORDER = 'VALIDATION_INVALID_ORDER';
const PARAMETER = 'VALIDATION_INVALID_PARAMETER';
const REASON_CHARS = 200;
const CLIENT_ID_CHARS = 64;
const LEAST_TIMEOUT_MS = 5_000;
const MOST_TIMEOUT_MS = 600_000;

/** One command, from HTTP or from a socket. */
export interface DeskCall {
  readonly requestId: string;
  readonly caller: Pick<ApiCaller, 'user_id' | 'client_id' | 'orders_per_minute'>;
  readonly record: JsonRecord;
  readonly channel: OrderChannel;
  readonly connectionId?: string;
}

export interface DeskPorts {
  readonly cells: Cells;
  readonly venues: Venues;
  readonly access: PlatformAccess;
  readonly clock: Clock;
  readonly newKey: () => string;
  /** The smallest quantity that may be bought. */
  readonly minimum: Micros;
}

/** Runs order commands: checks them in the order of the contract, sends them to the cell, and makes its answer a reply. */
export class OrderDesk {
  constructor(private readonly ports: DeskPorts) {}

  submit(call: DeskCall): Promise<Reply> {
    return this.run(call, () => this.accept(call));
  }

  cancel(orderId: string, call: DeskCall): Promise<Reply> {
    return this.run(call, async () => {
      const venue = this.venueOf(orderId);
      if (venue !== undefined) this.ports.access.check(call.caller, venue, 'bare');
      const fields = new BodyFields(call.record, ['reason', 'not_after'], PARAMETER);
      const reason = fields.text('reason', (text) => isPrintable(text, REASON_CHARS));
      const not_after = fields.time('not_after');
      if (venue === undefined) throw notFound();
      const body = await this.ports.cells.told<'cancel'>({
        ...orderCaller(call.caller, call.requestId),
        ...{ op: 'cancel', order_id: orderId.toLowerCase() },
        ...(reason === undefined ? {} : { reason }),
        ...until(not_after),
      });
      return { status: 200, body };
    });
  }

  cancelByClientId(call: DeskCall): Promise<Reply> {
    return this.run(call, async () => {
      const venue = this.exchangeIn(call.record, PARAMETER);
      this.ports.access.check(call.caller, venue, 'bare');
      const names = ['exchange_id', 'market_id', 'client_order_id', 'not_after'];
      const fields = new BodyFields(call.record, names, PARAMETER);
      const market = fields.requiredText('market_id');
      const client_order_id = fields.requiredText('client_order_id', (text) =>
        isPrintable(text, CLIENT_ID_CHARS),
      );
      const not_after = fields.time('not_after');
      const body = await this.ports.cells.told<'cancel_by_client_id'>({
        ...orderCaller(call.caller, call.requestId),
        ...{ op: 'cancel_by_client_id', venue, client_order_id },
        market_id: await this.canonical(venue, market),
        ...until(not_after),
      });
      return { status: 200, body };
    });
  }

  cancelAll(call: DeskCall): Promise<Reply> {
    return this.run(call, async () => {
      const venue = this.exchangeIn(call.record, PARAMETER);
      this.ports.access.check(call.caller, venue, 'bare');
      if (!CAPABILITIES[venue].supports_cancel_all) {
        return refusal('EXCHANGE_CANCEL_ALL_UNSUPPORTED', `${venue} has no cancel-all`);
      }
      const names = ['exchange_id', 'market_id', 'token_id', 'side', 'emulate', 'not_after'];
      const fields = new BodyFields(call.record, names, PARAMETER);
      const market = fields.text('market_id');
      const token_id = fields.text('token_id');
      const side = fields.word('side', ['buy', 'sell']);
      fields.flag('emulate');
      const not_after = fields.time('not_after');
      const counts = await this.ports.cells.told<'cancel_all'>({
        ...orderCaller(call.caller, call.requestId),
        op: 'cancel_all',
        cause: 'CANCEL_ALL',
        select: {
          venue,
          ...(market === undefined ? {} : { market_id: await this.canonical(venue, market) }),
          ...(token_id === undefined ? {} : { token_id }),
          ...(side === undefined ? {} : { side }),
        },
        ...until(not_after),
      });
      return { status: 200, body: cancelAllBody(counts) };
    });
  }

  cancelAfter(call: DeskCall): Promise<Reply> {
    return this.run(call, async () => {
      const hasVenue = (call.record.exchange_id ?? undefined) !== undefined;
      const venue = hasVenue ? this.exchangeIn(call.record, PARAMETER) : undefined;
      if (venue !== undefined) this.ports.access.check(call.caller, venue, 'bare');
      const fields = new BodyFields(call.record, ['timeout_ms', 'exchange_id'], PARAMETER);
      const timeout_ms = fields.integer('timeout_ms', 0, MOST_TIMEOUT_MS);
      if (timeout_ms === undefined) throw fields.missing('timeout_ms');
      if (timeout_ms !== 0 && timeout_ms < LEAST_TIMEOUT_MS) throw fields.wrong('timeout_ms');
      const body = await this.ports.cells.told<'cancel_after'>({
        ...orderCaller(call.caller, call.requestId),
        ...{ op: 'cancel_after', timeout_ms },
        ...(venue === undefined ? {} : { venue }),
      });
      return { status: 200, body };
    });
  }

  amend(orderId: string, call: DeskCall): Promise<Reply> {
    return this.run(call, async () => {
      const { record, caller, requestId } = call;
      const venue = this.venueOf(orderId);
      if (venue !== undefined) {
        this.ports.access.check(caller, venue, 'told');
        if (!CAPABILITIES[venue].supports_native_amend) throw unsupported(`${venue} cannot amend in place`);
      }
      if ((record.quantity ?? undefined) !== undefined)
        throw unsupported('The size of an order cannot change');
      const fields = new BodyFields(record, ['price', 'quantity', 'not_after'], PARAMETER);
      const not_after = fields.time('not_after');
      if (venue === undefined) throw notFound();
      const request = {
        ...orderCaller(caller, requestId),
        ...{ op: 'amend' as const, order_id: orderId.toLowerCase(), price: priceIn(fields) },
        ...until(not_after),
      };
      const reply = await this.ports.cells.told<'amend'>(request, AMEND_PATIENCE_MS);
      return { status: 200, body: amendBody(reply), headers: rateHeaders(reply.slots) };
    });
  }

  batch(call: DeskCall): Promise<Reply> {
    return this.run(call, () => {
      const venue = this.exchangeIn(call.record, PARAMETER);
      this.ports.access.check(call.caller, venue, 'bare');
      return refusal('EXCHANGE_BATCH_UNSUPPORTED', `${venue} takes orders one by one`);
    });
  }

  private async accept({ record, caller, requestId, channel, connectionId }: DeskCall): Promise<Reply> {
    const { cells, venues, access, clock, newKey, minimum } = this.ports;
    const venue = this.exchangeIn(record, ORDER);
    access.check(caller, venue, 'bare');
    const { client_id, user_id } = caller;
    const body = readSubmit(record, { venue, is_key: client_id !== undefined, minimum });
    const market = await venues.market(venue, body.market_id);
    const terms = termsOf(body, market, {
      ...{ user_id, channel, newKey, now: instantFromNanos(clock.epochNanos()) },
      ...(client_id === undefined ? {} : { client_id }),
      ...(connectionId === undefined ? {} : { connection_id: connectionId }),
    });
    const { slots, is_replay, is_mismatch, ...shown } = await cells.told<'submit'>({
      ...orderCaller(caller, requestId),
      ...{ op: 'submit', terms, market_status: market.status },
    });
    return {
      status: 200,
      body: shown,
      headers: {
        ...rateHeaders(slots),
        ...(is_replay ? { 'idempotent-replay': 'true' } : {}),
        ...(is_mismatch ? { 'idempotent-mismatch': 'true' } : {}),
      },
    };
  }

  private async run({ record }: DeskCall, work: () => Promise<Reply> | Reply): Promise<Reply> {
    return marked(await answering(work), usesDeprecated(record));
  }

  private exchangeIn({ exchange_id }: JsonRecord, code: string): VenueId {
    const named = typeof exchange_id === 'string' ? this.ports.venues.named(exchange_id) : undefined;
    if (named === undefined)
      throw wrongField(code, 'exchange_id', 'exchange_id must be a registered exchange');
    return named.venue;
  }

  /** Undefined if no order of a registered venue can have the id. */
  private venueOf(orderId: string): VenueId | undefined {
    if (!isUuidText(orderId))
      throw wrongField('VALIDATION_INVALID_ID', 'order_id', 'order_id must be a UUID');
    const venue = venueOfOrder(orderId.toLowerCase());
    return venue !== undefined && this.ports.venues.has(venue) ? venue : undefined;
  }

  /** The venue's own id of the market, which orders have. If the venue is unavailable, the given id is used. */
  private async canonical(venue: VenueId, market: string): Promise<string> {
    const found = await this.ports.venues.known(venue, market);
    return found?.market_id ?? market;
  }
}

/** A price that is on no grid. */
const NO_PRICE = -1n;

/** An invalid price goes to the cell as `NO_PRICE`, because the cell must check the order itself first. */
function priceIn(fields: BodyFields): Micros {
  try {
    return fields.micros('price', (value) => value > 0n && value <= ONE) ?? NO_PRICE;
  } catch {
    return NO_PRICE;
  }
}

function until(not_after: Instant | undefined): { not_after?: Instant } {
  return not_after === undefined ? {} : { not_after };
}

function notFound(): ReturnType<typeof refuse> {
  return refuse('ORDER_NOT_FOUND', 'You have no such order');
}

function unsupported(message: string): ReturnType<typeof refuse> {
  return refuse('EXCHANGE_AMEND_UNSUPPORTED', message);
}

function cancelAllBody({ failed, ...counts }: CellReplies['cancel_all']): Record<string, unknown> {
  const notCancelled = failed.map(({ order_id, code, message }) => ({
    order_id,
    error_details: errorDetails(code, { message }),
  }));
  const { as_of, ...rest } = counts;
  return { ...rest, failed: notCancelled, mode: 'native', as_of };
}

/** The only body with prices and quantities as JSON numbers. */
function amendBody(reply: CellReplies['amend']): Record<string, unknown> {
  const { success, exchange_order_id, price, quantity, message } = reply;
  return {
    success,
    ...(exchange_order_id === undefined ? {} : { exchange_order_id }),
    ...(price === undefined ? {} : { price: Number(printMicros(price)) }),
    ...(quantity === undefined ? {} : { quantity: Number(printMicros(quantity)) }),
    ...(message === undefined ? {} : { message }),
  };
}
