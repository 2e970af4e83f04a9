import type { Reply } from '#libs/edge/reply/reply.js';
import type { CellRefusal, ShownLimit } from '../protocol/cell-replies.js';
import { classificationOf, legacyCodeOf, statusOf } from '../rules/failures.js';

const RETRY_AFTER = 1;
const SECOND_MS = 1_000;

type Details = Readonly<Record<string, unknown>>;

interface ErrorDetails {
  readonly code: string;
  readonly details?: Details;
  readonly metadata: { readonly classification: string };
}

/** A refusal of a handler. It is thrown, since most are found deep inside the reading of a body. */
export class RefusedCall extends Error {
  override readonly name = 'RefusedCall';

  constructor(readonly reply: Reply) {
    super('refused');
  }
}

export function errorDetails(code: string, details?: Details): ErrorDetails {
  return {
    code,
    ...(details === undefined ? {} : { details }),
    metadata: { classification: classificationOf(code) },
  };
}

/** A refusal in the envelope. */
export function refusal(code: string, message: string, details?: Details): Reply {
  return envelope(statusOf(code), { code, message, ...(details === undefined ? {} : { details }) });
}

export function refuse(code: string, message: string, details?: Details): RefusedCall {
  return new RefusedCall(refusal(code, message, details));
}

/** Refuses one field, by its name in the interface. */
export function wrongField(code: string, field: string, message: string): RefusedCall {
  return refuse(code, message, { field });
}

/** Puts a cell's refusal into the envelope that callers see. */
export function envelope(status: number, { code, message, details, retry_after, slots }: CellRefusal): Reply {
  const isLimited = status === 429 || code === 'EXCHANGE_CIRCUIT_OPEN';
  return {
    status,
    body: { error: message, code: legacyCodeOf(code), error_details: errorDetails(code, details) },
    headers: {
      ...(isLimited ? { 'retry-after': String(Math.max(retry_after ?? RETRY_AFTER, 1)) } : {}),
      ...rateHeaders(slots),
    },
  };
}

/** Only calls that count against a limit of orders have these headers. */
export function rateHeaders(slots: ShownLimit | undefined): Record<string, string> {
  if (slots?.limit.startsWith('orders') !== true) return {};
  return {
    'x-ratelimit-limit': String(slots.max),
    'x-ratelimit-remaining': String(slots.remaining),
    'x-ratelimit-reset': String(Math.ceil(Date.parse(slots.resets_at) / SECOND_MS)),
  };
}

/** A refusal without the envelope. */
export function errorOnly(status: number, error: string): Reply {
  return { status, body: { error } };
}

/** Stand-ins for a code in declarations of endpoints: a refusal without a body, and one in plain text. */
export const NO_BODY = 'NO_BODY';
export const PLAIN_TEXT = 'PLAIN_TEXT';

export function emptyReply(status: number): Reply {
  return { status };
}

export const CELL_UNAVAILABLE: CellRefusal = {
  code: 'CELL_UNAVAILABLE',
  message: 'The part of the service that keeps your orders does not answer; repeat with the same key',
};

/** Runs a handler. A thrown `RefusedCall` becomes the reply. */
export async function answering(work: () => Promise<Reply> | Reply): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedCall) return error.reply;
    throw error;
  }
}
