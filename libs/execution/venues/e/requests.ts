import type { z } from 'zod';
import { instantFromNanos, NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { SignerFailure, type SignedAction, type Signer } from '../../protocol/signer-protocol.js';
import type { VenueCall } from '../../rules/order.js';
import { bodyOf, type RequestOutcome } from '../answers.js';
import {
  callOf,
  STALE_NANOS,
  TOO_OLD,
  type HttpAsked,
  type HttpExchange,
  type VenueHttp,
} from '../http-exchange.js';
import { readAs } from './shapes.js';

type Operation = VenueCall['operation'];

export interface EActionRequest {
  readonly user_id: string;
  readonly by: 'agent' | 'account';
  readonly action: Readonly<Record<string, unknown>>;
  readonly nonce: number;
  readonly expires_after?: number;
  readonly order_id?: string;
  readonly operation: Operation;
}

/** Requests to the venue. Reads need no signature, because accounts are public there. */
export class VenueERequests {
  private lastNonce = 0;

  constructor(
    private readonly url: string,
    private readonly http: VenueHttp,
    private readonly signer: Signer,
    private readonly clock: Clock,
  ) {}

  /** Milliseconds since 1970, and never the same number twice. */
  nextNonce(): number {
    this.lastNonce = Math.max(this.lastNonce + 1, Number(this.clock.epochNanos() / NANOS_PER_MILLI));
    return this.lastNonce;
  }

  async read<Shape>(question: object, shape: z.ZodType<Shape>): Promise<Shape> {
    const { outcome } = await this.post('/info', question);
    return readAs(shape, bodyOf(outcome));
  }

  async readCall<Shape>(
    question: object,
    shape: z.ZodType<Shape>,
  ): Promise<{ readonly outcome: Shape; readonly call: VenueCall }> {
    const { asked, ...exchange } = await this.post('/info', question);
    return {
      outcome: readAs(shape, bodyOf(exchange.outcome)),
      call: callOf('read', asked, exchange),
    };
  }

  /** Sends the action once, exactly as it was signed. */
  async act(
    request: EActionRequest,
  ): Promise<{ readonly outcome: RequestOutcome; readonly call: VenueCall }> {
    const { action, nonce, expires_after: expiresAfter, operation } = request;
    const began = this.clock.monotonicNanos();
    let signed: SignedAction;
    try {
      signed = await this.sign(request);
    } catch (error) {
      if (!(error instanceof SignerFailure)) throw error;
      return { outcome: { what: 'unsigned', failure: error }, call: this.unsentCall(operation, action) };
    }
    if (this.clock.monotonicNanos() - began > STALE_NANOS) {
      return { outcome: TOO_OLD, call: this.unsentCall(operation, action) };
    }
    const { signature } = signed;
    const body = { action, nonce, signature, ...(expiresAfter === undefined ? {} : { expiresAfter }) };
    const { asked, ...exchange } = await this.post('/exchange', body);
    return { outcome: exchange.outcome, call: callOf(operation, asked, exchange, signed.signed_at) };
  }

  /** Describes a call that was never sent. */
  unsentCall(operation: Operation, body: object): VenueCall {
    const sent_at = instantFromNanos(this.clock.epochNanos());
    const outcome = { what: 'never-sent', reason: 'not sent' } as const;
    return callOf(operation, this.asked('/exchange', body), { outcome, sent_at });
  }

  private sign({
    user_id,
    order_id,
    by,
    action,
    nonce,
    expires_after,
  }: EActionRequest): Promise<SignedAction> {
    return this.signer.sign({
      ...{ venue: 'venue_e', user_id, by, action, nonce: String(nonce) },
      ...(order_id === undefined ? {} : { order_id }),
      ...(expires_after === undefined ? {} : { expires_after: String(expires_after) }),
    });
  }

  private async post(path: string, body: object): Promise<HttpExchange & { readonly asked: HttpAsked }> {
    const asked = this.asked(path, body);
    return { ...(await this.http.exchange(asked)), asked };
  }

  private asked(path: string, body: object): HttpAsked {
    return {
      method: 'POST',
      url: new URL(`${this.url.replace(/\/$/, '')}${path}`),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
  }
}
