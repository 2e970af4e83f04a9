import type { Instant } from '#libs/base/instant.js';
import { integerArray, keyColumns, textArray } from './reserved-rows.js';
import type { ClaimKind, ClaimLine, ClaimOfEpoch } from './claim.js';

const KINDS: Readonly<Record<ClaimKind, number>> = { GROWS: 1, STANDS: 2, SHRINKS: 3, LACKING: 4 };
/** `2026-11-20T12:00:00.123456`: an instant cut to microseconds, which is what the server keeps. */
const MICROSECONDS_END = 26;
const SHARDS = [0, 1, 2];
const MOST = Number.MAX_SAFE_INTEGER;

/** The checks of `readEvidence` and `judgeFreshness`, in SQL. */
const VOUCHED = `e.amount between 0 and ${MOST} and e.settled between 0 and ${MOST} and e.source_sequence between 1 and ${MOST}
          and e.risk_valid_until > $3::timestamptz and e.risk_valid_until < '9999-01-01'
          and e.authority_valid_until > $3::timestamptz and e.authority_valid_until < '9999-01-01'`;

const KEY_OF_EVIDENCE = '(e.account_id, e.venue, e.resource, e.asset)';
const KEY_OF_RESERVED = '(r.account_id, r.venue, r.resource, r.asset)';
/** Resources that shrink only by settlement; see `readEvidence`. */
const IS_OWNED = `a.resource in ('COLLATERAL', 'OUTCOME_TOKEN')`;

/** The check of `judgeFreeze`, only for accounts that want to quote. */
const FROZEN = `
  select q.account_id from unnest($12::text[]) as q (account_id)
  join control.protection_state s on s.account_id = q.account_id where s.frozen_until > $3::timestamptz`;

/** The key of a line, or nulls that match nothing, so that the server does not search. */
function keyWhere(isNeeded: string): string {
  return `(case when ${isNeeded} then a.account_id end, a.venue, a.resource, a.asset)`;
}

/**
 * Reads rows by primary key and only where needed, because reads can conflict. Grants all of an account's lines or
 * none, with the comparisons of `decideHold`. One update in line order avoids deadlocks. One result row is
 * cheapest.
 */
export function claimStatement(shard: number): string {
  const others = SHARDS.filter((other) => other !== shard)
    .map((other) => `coalesce(r.shard_${other}, 0)`)
    .join(' + ');
  return `
    with fence as materialized (select from risk.shard_fence where shard = $1 and epoch = $2),
    judged as materialized (
      select a.place, a.account_id, a.kind, a.total, r.ctid as seen_at, coalesce(case a.kind
        when ${KINDS.SHRINKS} then r.account_id is not null
        when ${KINDS.LACKING} then e.account_id is null
        else ${VOUCHED}
          and (a.seen_amount is null or e.amount = a.seen_amount and ${others} = a.seen_others)
          and case a.kind
            when ${KINDS.GROWS} then r.account_id is not null and ${others} + a.total <= e.amount
            else not ${IS_OWNED} or ${others} + a.total <= e.amount + e.settled
          end
      end, false) as is_true
      from fence
        cross join unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::int[], $10::bigint[], $11::bigint[])
          with ordinality as a (account_id, venue, resource, asset, total, kind, seen_amount, seen_others, place)
        left join risk.evidence e on ${KEY_OF_EVIDENCE} = ${keyWhere(`a.kind <> ${KINDS.SHRINKS}`)}
        left join risk.reserved r on ${KEY_OF_RESERVED} = ${keyWhere(
          `a.kind in (${KINDS.GROWS}, ${KINDS.SHRINKS}) or a.kind = ${KINDS.STANDS} and ${IS_OWNED}`,
        )}
    ),
    granted as materialized (
      select place, kind, total, seen_at from judged where is_true and (kind = ${KINDS.SHRINKS} or account_id <> all (
        array(select account_id from judged where not is_true and kind <> ${KINDS.SHRINKS} union all ${FROZEN})
      ))
    ),
    written as (
      update risk.reserved r set shard_${shard} = g.total from granted g
      where r.ctid = g.seen_at and g.kind in (${KINDS.GROWS}, ${KINDS.SHRINKS})
    )
    select string_agg(place::text, ',') from granted`;
}

/** The line numbers in the answer to `claimStatement`, from 1. */
export function placesIn(answer: string | null | undefined): number[] {
  return answer === null || answer === undefined ? [] : answer.split(',').map(Number);
}

/** The parameters of `claimStatement` after the shard. */
export function claimColumns({ epoch, lines, at, quoting }: ClaimOfEpoch): unknown[] {
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
    textArray(quoting),
  ];
}

/** Evidence ends at whole microseconds, so the microsecond before an instant decides whether it is valid. */
function microseconds(instant: Instant): string {
  return `${instant.slice(0, MICROSECONDS_END)}Z`;
}
