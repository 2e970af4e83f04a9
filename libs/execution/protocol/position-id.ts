import { createHash } from 'node:crypto';

/** A UUID that is the same for the same position for ever: version 8, made of a hash of its key. */
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
