import type { Pool } from 'pg';
import type { Instant } from '#libs/base/instant.js';
import { rejected } from '#libs/base/rejection.js';
import { requiredInstant, utcText } from './timestamps.js';

/** Until when each account's maker protection keeps it from quoting. */
export type Freezes = ReadonlyMap<string, Instant>;

const FROZEN = rejected('MMP_FROZEN', 'Market maker protection has tripped.');

/** Reads only these accounts, each by primary key. */
const READ_FREEZES = `
  select s.account_id, ${utcText('s.frozen_until')} as until
  from unnest($1::text[]) as q (account_id) join control.protection_state s on s.account_id = q.account_id`;

export function judgeFreeze(freezes: Freezes, maker: string, now: Instant): typeof FROZEN | undefined {
  const until = freezes.get(maker);
  return until !== undefined && now < until ? FROZEN : undefined;
}

/** Runs in the transaction of `from`, if it is in one. */
export async function readFreezes(from: Pick<Pool, 'query'>, accounts: readonly string[]): Promise<Freezes> {
  if (accounts.length === 0) return new Map();
  const { rows } = await from.query<{ account_id: string; until: string }>({
    name: 'freezes',
    text: READ_FREEZES,
    values: [accounts],
  });
  return new Map(rows.map((row) => [row.account_id, requiredInstant(row.until)]));
}
