/**
 * Whoever may log in may take any advisory lock of the database: PostgreSQL knows no right to them. So what keeps somebody from his work
 * is not that the lock is taken, but that it is taken by a role which may do what the lock is about. Only for locks on which nothing rests but
 * cost, or behind which a fence stands: where a stranger has one, of those who may have it nobody keeps off another. See docs/decisions/0092.
 */
export interface RightfulHolders {
  /** With one number, or with two, as the lock was taken; expressions of the statement. */
  readonly lock: readonly [key: string] | readonly [space: string, key: string];
  readonly table: string;
  readonly right: 'update' | 'delete';
  /** Undefined: in whatever mode. */
  readonly mode?: 'ExclusiveLock';
}

/** A condition of SQL: whether somebody holds the lock to whom it belongs. */
export function isRightfullyHeld({ lock, table, right, mode }: RightfulHolders): string {
  const [first, second] = lock;
  const place =
    second === undefined
      ? `l.objsubid = 1 and (l.classid::bigint << 32) + l.objid::bigint = ${first}`
      : `l.objsubid = 2 and l.classid::bigint = ${first} and l.objid::bigint = ${second}`;
  return `exists (
    select from pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and l.granted and ${place}
      and l.database = (select oid from pg_database where datname = current_database())
      ${mode === undefined ? '' : `and l.mode = '${mode}'`} and has_table_privilege(a.usesysid, '${table}', '${right}'))`;
}

/** Of `pg_stat_activity a`, for people. */
export const SHOWN_SESSION = `format('process %s, role %s, application %s', a.pid, a.usename, coalesce(nullif(a.application_name, ''), 'without a name'))`;
