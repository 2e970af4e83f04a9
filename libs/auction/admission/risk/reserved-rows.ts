import type { Instant } from '#libs/base/instant.js';
import { EvidenceInvalid } from './evidence.js';
import type { Freezes } from '../freezes.js';
import { utcText } from '../timestamps.js';
import { type Evidence, type EvidenceOf, readEvidence } from './evidence.js';
import { accountKey, type AccountKey } from './resource-key.js';
import type { TokenSights } from './token-sights.js';

/** Integers come as text: see `readEvidence`. The evidence columns are null together, and so are the reserved ones. */
export type StandingRow = readonly [
  ordinal: string,
  amount: string | null,
  settled: string,
  sourceSequence: string,
  riskValidUntil: Instant,
  authorityValidUntil: Instant,
  shard0: string | null,
  shard1: string,
  shard2: string,
];

/** Reads rows by primary key, so the cost does not depend on the size of the tables. */
export const READ_STANDING = `
  select k.n::text, e.amount::text, e.settled::text, e.source_sequence::text,
    ${utcText('e.risk_valid_until')}, ${utcText('e.authority_valid_until')},
    r.shard_0::text, r.shard_1::text, r.shard_2::text
  from unnest($1::text[], $2::text[], $3::text[], $4::text[])
    with ordinality as k (account_id, venue, resource, asset, n)
  left join risk.evidence e
    on (e.account_id, e.venue, e.resource, e.asset) = (k.account_id, k.venue, k.resource, k.asset)
  left join risk.reserved r
    on (r.account_id, r.venue, r.resource, r.asset) = (k.account_id, k.venue, k.resource, k.asset)`;

/** The keys as four array parameters. */
export function keyColumns(keys: readonly AccountKey[]): [string, string, string, string] {
  return [
    textArray(keys.map((key) => key.account)),
    textArray(keys.map((key) => key.venue)),
    textArray(keys.map((key) => key.resource)),
    textArray(keys.map((key) => key.asset)),
  ];
}

/** How much of a key is reserved, given the amounts of each shard in the table. */
export type ReservedOf = (key: AccountKey, byShard: readonly number[]) => number;

/** The rows of READ_STANDING. A row is checked only when it is used, so that a fault affects only its own account. */
export class ReservedState {
  private readonly rows = new Map<string, StandingRow>();
  private readonly roomless = new Set<string>();

  constructor(
    keys: readonly AccountKey[],
    rows: readonly StandingRow[],
    readonly freezes: Freezes = new Map(),
  ) {
    for (const row of rows) {
      const key = keys[Number(row[0]) - 1];
      if (key === undefined) continue;
      this.rows.set(key.name, row);
      if (row[6] === null) this.roomless.add(key.name);
    }
  }

  /** Whether the table has no row for this key yet. */
  lacksRoom(key: AccountKey): boolean {
    return this.roomless.has(key.name);
  }

  /** Caches the balances of tokens for claims. */
  noteTokens(keys: readonly AccountKey[], shard: number, sights: TokenSights): void {
    for (const key of keys) {
      if (key.resource !== 'OUTCOME_TOKEN') continue;
      const row = this.rows.get(key.name);
      if (row === undefined) continue;
      const [, amount, , , , , ...reserved] = row;
      const others = reserved.reduce((sum, text, index) => (index === shard ? sum : sum + Number(text)), 0);
      sights.note(key, amount === null ? {} : { amount: Number(amount), others });
    }
  }

  /** For one decision: each row is read once. */
  evidenceFor(account: string, reservedOf: ReservedOf): EvidenceOf {
    const known = new Map<string, Evidence | undefined>();
    return (resource) => {
      const key = accountKey(account, resource);
      if (!known.has(key.name)) known.set(key.name, this.read(key, reservedOf));
      return known.get(key.name);
    };
  }

  private read(key: AccountKey, reservedOf: ReservedOf): Evidence | undefined {
    const row = this.rows.get(key.name);
    if (row === undefined) throw new Error(`${key.resource} of ${key.account} was not read`);
    const [, amount, settled, source_sequence, risk_valid_until, authority_valid_until] = row;
    if (amount === null) return undefined;
    const text = { amount, settled, source_sequence, risk_valid_until, authority_valid_until };
    return readEvidence(key, text, reservedOf(key, shardsOf(row)));
  }
}

function shardsOf(row: StandingRow): number[] {
  const [, , , , , , shard0, shard1, shard2] = row;
  if (shard0 === null) return [0, 0, 0];
  const held = [shard0, shard1, shard2].map(Number);
  if (held.some((amount) => !Number.isSafeInteger(amount) || amount < 0)) {
    throw new EvidenceInvalid(`reserved amounts ${held.join(', ')} cannot be right`);
  }
  return held;
}

const NEEDS_QUOTING = /["\\]/;

/** A text array in the server's syntax. Faster than the client library, which examines every element. */
export function textArray(values: readonly string[]): string {
  if (values.length === 0) return '{}';
  const joined = values.join('","');
  if (!NEEDS_QUOTING.test(values.join(''))) return `{"${joined}"}`;
  return `{"${values.map((value) => value.replace(/["\\]/g, '\\$&')).join('","')}"}`;
}

export function integerArray(values: readonly number[]): string {
  return `{${values.join(',')}}`;
}
