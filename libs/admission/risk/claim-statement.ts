import type { Instant } from '#libs/auction/instant.js';
import { integerArray } from './array-literal.js';
import type { ClaimKind, ClaimLine, ClaimOfEpoch } from './claim.js';
import { keyColumns } from './reserved-rows.js';

const KINDS: Readonly<Record<ClaimKind, number>> = { GROWS: 1, STANDS: 2, SHRINKS: 3, LACKING: 4 };
/** `2026-11-20T12:00:00.123456`: as much of an instant as the server keeps, never later than it. */
const MICROSECONDS_END = 26;
const SHARDS = [0, 1, 2];
const MOST = Number.MAX_SAFE_INTEGER;

/** What `readEvidence` and `judgeFreshness` ask of a row, in the words of the server. Of `r` there may be no row. */
const VOUCHED = `e.amount between 0 and ${MOST} and e.settled between 0 and ${MOST} and e.source_sequence between 1 and ${MOST}
  and e.risk_valid_until > $3::timestamptz and e.authority_valid_until > $3::timestamptz
  and greatest(e.risk_valid_until, e.authority_valid_until) < '9999-01-01'
  and (a.seen_amount is null or e.amount = a.seen_amount)`;

/**
 * Each line is found by primary key alone, as in READ_STANDING, and judged by the comparisons that `decideHold` would make. All
 * that is written is written by one update, in the order of the lines, so that shards meet on rows in one order.
 */
export function claimStatement(shard: number): string {
  const others = SHARDS.filter((other) => other !== shard)
    .map((other) => `r.shard_${other}`)
    .join(' + ');
  const key = (row: string): string => `(${row}.account_id, ${row}.venue, ${row}.resource, ${row}.asset)`;
  return `
    with fence as materialized (select from risk.shard_fence where shard = $1 and epoch = $2),
    asked as materialized (
      select * from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::int[], $10::bigint[], $11::bigint[])
        with ordinality as a (account_id, venue, resource, asset, total, kind, seen_amount, seen_others, place)
    ),
    written as (
      update risk.reserved r set shard_${shard} = a.total
      from fence cross join asked a left join risk.evidence e on ${key('e')} = ${key('a')}
      where ${key('r')} = ${key('a')} and (a.kind = ${KINDS.SHRINKS} or (a.kind = ${KINDS.GROWS}
        and ${VOUCHED} and (a.seen_others is null or ${others} = a.seen_others) and ${others} + a.total <= e.amount))
      returning a.place
    )
    select place::int from written
    union all
    select a.place::int from fence cross join asked a
      join risk.evidence e on ${key('e')} = ${key('a')}
      left join risk.reserved r on ${key('r')} = ${key('a')}
    where a.kind = ${KINDS.STANDS} and ${VOUCHED}
      and (a.seen_others is null or coalesce(${others}, 0) = a.seen_others)
      and (a.resource not in ('COLLATERAL', 'OUTCOME_TOKEN') or coalesce(${others}, 0) + a.total <= e.amount + e.settled)
    union all
    select a.place::int from fence cross join asked a
    where a.kind = ${KINDS.LACKING} and not exists (select from risk.evidence e where ${key('e')} = ${key('a')})`;
}

/** The parameters of `claimStatement` behind the shard. */
export function claimColumns({ epoch, lines, at }: ClaimOfEpoch): unknown[] {
  const seen = (of: 'amount' | 'others'): string =>
    `{${lines.map(({ sight }) => sight?.[of] ?? 'NULL').join(',')}}`;
  return [
    epoch,
    microseconds(at),
    ...keyColumns(lines.map(({ key }) => key)),
    integerArray(lines.map(({ total }) => total)),
    integerArray(lines.map(({ kind }: ClaimLine) => KINDS[kind])),
    seen('amount'),
    seen('others'),
  ];
}

/** Evidence ends at whole microseconds, so it is good at an instant if it is at the microsecond before. */
function microseconds(instant: Instant): string {
  return `${instant.slice(0, MICROSECONDS_END)}Z`;
}
