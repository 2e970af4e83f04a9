import type { Instant } from '#libs/auction/instant.js';
import { integerArray } from './array-literal.js';
import type { ClaimKind, ClaimLine, ClaimOfEpoch } from './claim.js';
import { keyColumns } from './reserved-rows.js';

const KINDS: Readonly<Record<ClaimKind, number>> = { GROWS: 1, STANDS: 2, SHRINKS: 3, LACKING: 4 };
/** `2026-11-20T12:00:00.123456`: as much of an instant as the server keeps, never later than it. */
const MICROSECONDS_END = 26;
const SHARDS = [0, 1, 2];
const MOST = Number.MAX_SAFE_INTEGER;

/** What `readEvidence` and `judgeFreshness` ask of a row, in the words of the server. */
const VOUCHED = `e.amount between 0 and ${MOST} and e.settled between 0 and ${MOST} and e.source_sequence between 1 and ${MOST}
  and e.risk_valid_until > $3::timestamptz and e.authority_valid_until > $3::timestamptz
  and greatest(e.risk_valid_until, e.authority_valid_until) < '9999-01-01'
  and (a.seen_amount is null or e.amount = a.seen_amount)`;

function keyOf(row: string): string {
  return `(${row}.account_id, ${row}.venue, ${row}.resource, ${row}.asset)`;
}

/**
 * Each line is found by primary key alone, as in READ_STANDING, and judged by the comparisons that `decideHold` would make. What an
 * account asks for is written whole or not at all: what is not granted must not keep anything from others for a moment. All is
 * written by one update, in the order of the lines, so that shards meet on rows in one order.
 */
export function claimStatement(shard: number): string {
  const others = SHARDS.filter((other) => other !== shard)
    .map((other) => `coalesce(r.shard_${other}, 0)`)
    .join(' + ');
  const seen = `(a.seen_others is null or ${others} = a.seen_others)`;
  return `
    with fence as materialized (select from risk.shard_fence where shard = $1 and epoch = $2),
    asked as materialized (
      select * from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::int[], $10::bigint[], $11::bigint[])
        with ordinality as a (account_id, venue, resource, asset, total, kind, seen_amount, seen_others, place)
    ),
    judged as materialized (
      select a.*, coalesce(case a.kind
        when ${KINDS.GROWS} then ${VOUCHED} and ${seen} and ${others} + a.total <= e.amount and r.account_id is not null
        when ${KINDS.STANDS} then ${VOUCHED} and ${seen}
          and (a.resource not in ('COLLATERAL', 'OUTCOME_TOKEN') or ${others} + a.total <= e.amount + e.settled)
        when ${KINDS.SHRINKS} then r.account_id is not null
        else e.account_id is null
      end, false) as is_true
      from fence cross join asked a
        left join risk.evidence e on ${keyOf('e')} = ${keyOf('a')}
        left join risk.reserved r on ${keyOf('r')} = ${keyOf('a')}
    ),
    refused as materialized (select distinct account_id from judged where not is_true and kind <> ${KINDS.SHRINKS}),
    granted as materialized (
      select * from judged where is_true
        and (kind = ${KINDS.SHRINKS} or account_id not in (select account_id from refused))
    ),
    written as (
      update risk.reserved r set shard_${shard} = g.total from granted g
      where ${keyOf('r')} = ${keyOf('g')} and g.kind in (${KINDS.GROWS}, ${KINDS.SHRINKS})
    )
    select place::int from granted`;
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
