import { createHash, timingSafeEqual } from 'node:crypto';

/** Compared by digest, so that the time tells neither the length nor the place of the first difference. */
export function isValidToken(given: string | string[] | undefined, good: readonly string[]): boolean {
  if (typeof given !== 'string') return false;
  const digest = createHash('sha256').update(given).digest();
  let matches = false;
  for (const token of good) {
    if (timingSafeEqual(digest, createHash('sha256').update(token).digest())) matches = true;
  }
  return matches;
}
