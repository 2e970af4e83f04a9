import { z } from 'zod';
import { SignerFailure, type SignerRequest } from '../protocol/signer-protocol.js';

const USER = z.string().min(1).max(128);
const NAME = z.string().min(1).max(128);
const DIGITS = z.string().regex(/^\d{1,19}$/);
const MOST_PEM = 8_192;
const VENUE = z.enum(['venue_a', 'venue_b', 'venue_c', 'venue_d', 'venue_e']);
const ORDER_ID = z.string().max(64).optional();

const REQUEST = z.union([
  z.strictObject({ op: z.literal('create_key'), user_id: USER, venue: VENUE }),
  z.strictObject({
    op: z.literal('name_key'),
    user_id: USER,
    venue: z.literal('venue_b'),
    account: NAME,
    key_id: NAME,
  }),
  z.strictObject({
    op: z.literal('store_key'),
    user_id: USER,
    venue: z.literal('venue_b'),
    account: NAME,
    key_id: NAME,
    private_key_pem: z.string().max(MOST_PEM),
  }),
  z.strictObject({ op: z.literal('account_of'), user_id: USER, venue: VENUE }),
  z.strictObject({
    op: z.literal('sign'),
    user_id: USER,
    order_id: ORDER_ID,
    venue: z.literal('venue_b'),
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
    path: z.string().max(512),
    timestamp_ms: z.string().regex(/^\d{13}$/),
    body_sha256: z.string().regex(/^(?:[0-9a-f]{64})?$/),
  }),
  z.strictObject({
    op: z.literal('sign'),
    user_id: USER,
    order_id: ORDER_ID,
    venue: z.literal('venue_e'),
    by: z.enum(['agent', 'account']),
    action: z.record(z.string(), z.unknown()),
    nonce: DIGITS,
    expires_after: DIGITS.optional(),
  }),
  z.strictObject({ op: z.literal('status') }),
]);

type ReadRequest = z.infer<typeof REQUEST>;

/** Parses a request. Anything that does not have this exact form is refused. */
export function readSignerRequest(value: unknown): SignerRequest {
  const read = REQUEST.safeParse(value);
  if (!read.success) throw new SignerFailure('SIGNER_REFUSED', 'not a request of the signer');
  return withoutAbsent(read.data);
}

function withoutAbsent(read: ReadRequest): SignerRequest {
  if (read.op !== 'sign') return read;
  const { order_id: orderId, ...rest } = read;
  const order = orderId === undefined ? {} : { order_id: orderId };
  if (rest.venue === 'venue_b') return { ...rest, ...order };
  const { expires_after: expiresAfter, ...action } = rest;
  return { ...action, ...order, ...(expiresAfter === undefined ? {} : { expires_after: expiresAfter }) };
}
