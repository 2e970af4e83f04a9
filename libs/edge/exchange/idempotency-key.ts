import type { FaultKind } from '../dialect/fault.js';

const GRAMMAR = /^[A-Za-z0-9._:-]{1,128}$/;

export type ReadKey =
  | { readonly key: string; readonly fault?: undefined }
  | { readonly key?: undefined; readonly fault: Extract<FaultKind, 'key-required' | 'key-mismatch'> };

/**
 * The one key among all that a request gives in headers and body. Different keys contradict each other even when one of them
 * breaks the grammar; alone, such a key counts as none.
 */
export function idempotencyKey(given: readonly string[]): ReadKey {
  const [first, ...others] = given;
  if (others.some((key) => key !== first)) return { fault: 'key-mismatch' };
  return first !== undefined && GRAMMAR.test(first) ? { key: first } : { fault: 'key-required' };
}
