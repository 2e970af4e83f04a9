import { createHash } from 'node:crypto';

/** A stable id of a position: a UUID of version 8, made from a hash of the position's key. */
export function positionId(key: string): string {
  const hash = createHash('sha256').update(`position ${key}`).digest('hex');
  const variant = ((Number.parseInt(hash[16] ?? '0', 16) & 3) | 8).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}
