import pg from 'pg';

/** By which a session takes locks of any name, as many as it likes, in the table that all sessions share. */
const TAKE_LOCKS = 'pg_(try_)?advisory_(xact_)?lock(_shared)?';
/** Of which nobody of ours needs any: large objects lie in no table, and messages fill the log of the server. */
const NEEDED_BY_NOBODY = 'lo_.*|loread|lowrite|pg_logical_emit_message';

/** Conditions of SQL on `pg_proc p`: PostgreSQL's own functions that are not for everybody who may log in. */
export const TAKES_LOCKS = `p.pronamespace = 'pg_catalog'::regnamespace and p.proname ~ '^(${TAKE_LOCKS})$'`;
export const IS_FOR_FEW = `p.pronamespace = 'pg_catalog'::regnamespace and p.proname ~ '^(${TAKE_LOCKS}|${NEEDED_BY_NOBODY})$'`;
export const IS_EVERYBODYS = `has_function_privilege('public', p.oid, 'execute')`;

/**
 * Such functions are for whoever is given them, in this database, and those that take locks are `owner`'s to pass on. What is so already is
 * left alone; only who administers the server can take away what it has given to everybody.
 */
export function takeFromEverybody(owner: string): string {
  const passedOn = `has_function_privilege(${pg.escapeLiteral(owner)}, p.oid, 'execute with grant option')`;
  return `
    do $$
    declare
      call regprocedure;
    begin
      for call in select p.oid from pg_proc p where ${IS_FOR_FEW} and ${IS_EVERYBODYS} loop
        execute format('revoke execute on function %s from public', call);
      end loop;
      for call in select p.oid from pg_proc p where ${TAKES_LOCKS} and not ${passedOn} loop
        execute format('grant execute on function %s to %I with grant option', call, ${pg.escapeLiteral(owner)});
      end loop;
    end
    $$`;
}
