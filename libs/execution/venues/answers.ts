import type { z } from 'zod';
import type { SignerFailure } from '../protocol/signer-protocol.js';
import type { OrderFailure } from '../rules/order.js';
import { parsedJson, type HttpOutcome } from './http-exchange.js';
import { VenueUnavailable } from './port.js';

/** How a signed request ended. `unsigned` and `never-sent` prove that the venue never received it. */
export type RequestOutcome = HttpOutcome | { readonly what: 'unsigned'; readonly failure: SignerFailure };
type Answered = Extract<RequestOutcome, { readonly what: 'answered' }>;
type Unanswered = Exclude<RequestOutcome, Answered>;

/** The JSON of an answer with status 200. Throws for any other outcome, because it proves nothing. */
export function bodyOf(outcome: RequestOutcome): unknown {
  if (outcome.what !== 'answered') {
    const isUnsigned = outcome.what === 'unsigned' && outcome.failure.code === 'SIGNER_UNAVAILABLE';
    const code = isUnsigned ? 'SIGNER_UNAVAILABLE' : 'EXCHANGE_UNAVAILABLE';
    throw new VenueUnavailable(reasonOf(outcome).reason, { code });
  }
  if (outcome.status !== 200) throw new VenueUnavailable(`the venue answered with ${outcome.status}`);
  const body = parsedJson(outcome.body);
  if (body === undefined) throw new VenueUnavailable('the answer is no JSON');
  return body;
}

/** Undefined if the status is good and the body is unreadable: what the venue did is then unknown. */
export function goodAnswer<Shape>({ status, body }: Answered, shape: z.ZodType<Shape>): Shape | undefined {
  if (status < 200 || status >= 300) return undefined;
  const read = shape.safeParse(parsedJson(body));
  return read.success ? read.data : undefined;
}

export function doubt({ status }: Answered): string {
  return status < 300 ? 'the answer cannot be read' : `the venue answered with ${status}`;
}

export function reasonOf(outcome: Unanswered): {
  readonly what: 'not-sent' | 'doubtful';
  readonly reason: string;
} {
  if (outcome.what === 'unsigned') return { what: 'not-sent', reason: outcome.failure.message };
  return { what: outcome.what === 'lost' ? 'doubtful' : 'not-sent', reason: outcome.reason };
}

const NOT_SIGNED = {
  SIGNER_UNAVAILABLE: 'SIGNER_UNAVAILABLE',
  SIGNER_REFUSED: 'SIGNER_REFUSED',
  NOT_LINKED: 'EXCHANGE_NOT_LINKED',
} as const;

/** The outcome of a submit that the venue did not answer. */
export function unanswered(
  outcome: Unanswered,
):
  | { readonly what: 'not-sent'; readonly failure: OrderFailure }
  | { readonly what: 'doubtful'; readonly reason: string } {
  const { what, reason } = reasonOf(outcome);
  if (what === 'doubtful') return { what, reason };
  const code = outcome.what === 'unsigned' ? NOT_SIGNED[outcome.failure.code] : 'EXCHANGE_UNAVAILABLE';
  return { what, failure: { code, message: reason } };
}
