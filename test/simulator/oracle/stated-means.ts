import { keyOf } from '../storage/tables.js';
import { must } from './violation.js';

const STATED = 'evidence says what there is';

interface Amount {
  readonly amount: number;
}

export interface StatedMeans {
  /** By account, venue, resource and asset. */
  readonly evidence: { readonly rows: ReadonlyMap<string, Amount> };
  /** By account, venue and resource. */
  readonly limits: {
    readonly rows: ReadonlyMap<string, Amount & { readonly account: string; readonly venue: string }>;
  };
}

/**
 * Compares the evidence that admission uses with the balances: collateral and tokens in full, position limits
 * minus contracts held. Both change in one commit. Checks only `accounts` if given, otherwise all, and then
 * also evidence without an account.
 */
export function checkStated(
  { evidence, limits }: StatedMeans,
  balances: ReadonlyMap<string, number>,
  accounts?: ReadonlySet<string>,
): void {
  const expected = new Map<string, number>();
  const contracts = new Map<string, number>();
  for (const [key, amount] of balances) {
    const [account = '', venue = '', asset = ''] = key.split('\u0000');
    if (account.startsWith('system:') || accounts?.has(account) === false) continue;
    expected.set(keyOf(account, venue, asset === '' ? 'COLLATERAL' : 'OUTCOME_TOKEN', asset), amount);
    const place = keyOf(account, venue);
    if (asset !== '') contracts.set(place, (contracts.get(place) ?? 0) + amount);
  }
  for (const [key, { account, venue, amount }] of limits.rows) {
    if (accounts?.has(account) === false) continue;
    const isOfPositions = key.endsWith('VENUE_POSITION_LIMIT');
    const left = isOfPositions ? Math.max(0, amount - (contracts.get(keyOf(account, venue)) ?? 0)) : amount;
    expected.set(keyOf(key, ''), left);
  }
  const others = accounts === undefined ? [...evidence.rows.keys()].filter((key) => !expected.has(key)) : [];
  for (const [key, amount] of [...expected, ...others.map((key) => [key, 0] as const)]) {
    const stated = evidence.rows.get(key)?.amount ?? 0;
    must(
      stated === amount,
      STATED,
      () => `${key.replaceAll('\u0000', '/')} is stated as ${stated}, and it is ${amount}`,
    );
  }
}
