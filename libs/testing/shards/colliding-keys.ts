import { hash } from 'node:crypto';
import { IdempotencyIndex, type IdempotencyKey } from '#libs/shard/idempotency-index.js';

/** Two keys for which commands of the account look alike to an idempotency index. Among any hundred thousand keys there are some. */
export function collidingKeys(command: Omit<IdempotencyKey, 'key'>): [string, string] {
  const seen = new Map<number, string>();
  for (let attempt = 0; ; attempt += 1) {
    const key = hash('sha256', String(attempt), 'hex').slice(0, 32);
    const index = new IdempotencyIndex();
    index.note({ ...command, key }, 1);
    const [[number] = [0]] = index.upTo(1);
    const other = seen.get(number);
    if (other !== undefined) return [other, key];
    seen.set(number, key);
  }
}
