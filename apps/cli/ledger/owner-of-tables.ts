import type { Pool } from 'pg';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';

const OWNER = `
  select pg_has_role(current_user, relowner, 'usage') as mine, current_user as name
  from pg_class where oid = to_regclass('custody.openings')`;

/** Only the role that owns the tables enters money. Checked first, so that no call stops half way for want of a right. */
export async function refuseWhoOwnsNoTables(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ mine: boolean; name: string }>(OWNER);
  const [owner] = rows;
  if (owner === undefined) {
    throw new StartFault('the database has no ledger yet: run the migration first', EXIT.unavailable);
  }
  if (!owner.mine) {
    const message = `${owner.name} does not own the tables: set DATABASE_URL as the role that does`;
    throw new StartFault(message, EXIT.unavailable);
  }
}
