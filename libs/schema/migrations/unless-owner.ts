/**
 * Lets whoever owns the table do what it is about, in the body of a trigger for each row: that is who puts things right. Stands in
 * migrations that have run, so it is not changed: what is to be otherwise gets a text of its own.
 */
export const UNLESS_OWNER = `
    if pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
      return new;
    end if;`;
