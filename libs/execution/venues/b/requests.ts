import { createHash } from 'node:crypto';
import { instantFromNanos, NANOS_PER_MILLI, type Instant } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { SignerFailure, type SignedHeaders, type Signer } from '../../protocol/signer-protocol.js';
import type { VenueCall } from '../../rules/order.js';
import { callOf, type HttpAsked, type VenueHttp, STALE_NANOS, TOO_OLD } from '../http-exchange.js';
import { bodyOf, type RequestOutcome } from '../answers.js';

export type BQuery = Readonly<Record<string, string | number | undefined>>;

export interface BRequest {
  readonly method: HttpAsked['method'];
  /** The path after the base address, without the query. */
  readonly path: string;
  readonly query?: BQuery;
  readonly body?: object;
}

export interface SignedBRequest extends BRequest {
  readonly user_id: string;
  readonly operation: VenueCall['operation'];
  readonly order_id?: string;
  /** When the caller began to wait. The default is now. */
  readonly since?: bigint;
}

export interface BExchange {
  readonly outcome: RequestOutcome;
  readonly call: VenueCall;
}

/** Requests to the venue's REST interface. The signer signs those of users. */
export class VenueBRequests {
  constructor(
    private readonly url: string,
    private readonly http: VenueHttp,
    private readonly signer: Signer,
    private readonly clock: Clock,
  ) {}

  /** A public read. Undefined if the venue answers 404. */
  async read(path: string, query: BQuery = {}): Promise<unknown> {
    const { outcome } = await this.http.exchange({
      method: 'GET',
      url: this.address(path, query),
      headers: {},
    });
    if (outcome.what === 'answered' && outcome.status === 404) return undefined;
    return bodyOf(outcome);
  }

  /** A read of a user's account. Throws `VenueUnavailable` unless it was read in full. */
  async readSigned(user_id: string, path: string, query: BQuery = {}): Promise<unknown> {
    const { outcome } = await this.signed({ user_id, method: 'GET', path, query, operation: 'read' });
    return bodyOf(outcome);
  }

  async signed(request: SignedBRequest): Promise<BExchange> {
    const { method, path, query, body, operation } = request;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const url = this.address(path, query);
    const asked = { method, url, ...(text === undefined ? {} : { body: text }) };
    const began = request.since ?? this.clock.monotonicNanos();
    let signed: SignedHeaders;
    try {
      signed = await this.sign(request, url.pathname, text ?? '');
    } catch (error) {
      if (!(error instanceof SignerFailure)) throw error;
      return { ...this.unsent(operation, asked), outcome: { what: 'unsigned', failure: error } };
    }
    const json = text === undefined ? undefined : { 'content-type': 'application/json' };
    if (this.clock.monotonicNanos() - began > STALE_NANOS) return this.unsent(operation, asked);
    const sent: HttpAsked = { ...asked, headers: { ...signed.headers, ...json } };
    const exchange = await this.http.exchange(sent);
    return { outcome: exchange.outcome, call: callOf(operation, sent, exchange, signed.signed_at) };
  }

  private unsent(operation: VenueCall['operation'], asked: Omit<HttpAsked, 'headers'>): BExchange {
    const exchange = { outcome: TOO_OLD, sent_at: this.now() };
    return { outcome: TOO_OLD, call: callOf(operation, { ...asked, headers: {} }, exchange) };
  }

  private sign(
    { user_id, order_id, method }: SignedBRequest,
    path: string,
    body: string,
  ): Promise<SignedHeaders> {
    return this.signer.sign({
      ...{ venue: 'venue_b', user_id, method, path },
      ...(order_id === undefined ? {} : { order_id }),
      timestamp_ms: (this.clock.epochNanos() / NANOS_PER_MILLI).toString(),
      body_sha256: createHash('sha256').update(body).digest('hex'),
    });
  }

  private address(path: string, query: BQuery = {}): URL {
    const url = new URL(`${this.url.replace(/\/$/, '')}${path}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    return url;
  }

  private now(): Instant {
    return instantFromNanos(this.clock.epochNanos());
  }
}
