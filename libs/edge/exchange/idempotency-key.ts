import type { Reply } from '../reply/reply.js';
import { errorReply } from '../reply/reply.js';

const GRAMMAR = /^[A-Za-z0-9._:-]{1,128}$/;
const REQUIRED = errorReply(400, 'idempotency_key_required');
const MISMATCH = errorReply(400, 'idempotency_key_mismatch');

/**
 * The one key among all that a request gives in headers and body. Different keys contradict each other even when one of
 * them breaks the grammar; alone, such a key counts as none.
 */
export function idempotencyKey(given: readonly string[]): string | Reply {
  const [first, ...others] = given;
  if (others.some((key) => key !== first)) return MISMATCH;
  return first !== undefined && GRAMMAR.test(first) ? first : REQUIRED;
}
