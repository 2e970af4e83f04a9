import type { FaultKind } from '../dialect/fault.js';

const GRAMMAR = /^[A-Za-z0-9._:-]{1,128}$/;

export type ReadKey =
  | { readonly key: string; readonly fault?: undefined }
  | { readonly key?: undefined; readonly fault: Extract<FaultKind, 'key-required' | 'key-mismatch'> };

/**
 * The single key in headers and body. Different keys conflict even if one of them is malformed; a single malformed key counts
 * as missing.
 */
export function idempotencyKey(given: readonly string[]): ReadKey {
  const [first, ...others] = given;
  if (others.some((key) => key !== first)) return { fault: 'key-mismatch' };
  return first !== undefined && GRAMMAR.test(first) ? { key: first } : { fault: 'key-required' };
}
