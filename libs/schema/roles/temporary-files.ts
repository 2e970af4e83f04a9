import pg from 'pg';

/** For one process of the server: hundreds of times what any statement of these roles needs, and far from a disk. */
const BOUND = '1GB';

/** Only who administers a server can set it, or let somebody. `reset all` has taken away what stood there. */
const MAY_BOUND = `
  select (select rolsuper from pg_roles where rolname = current_user) or has_parameter_privilege('temp_file_limit', 'set') as may`;

/**
 * What a statement sorts or keeps goes into files of the server, as large as its disk unless somebody says how large. Whoever may make
 * temporary tables fills it with those anyway, and reads whole ledgers and projections against each other: he has no bound.
 */
export async function boundTemporaryFiles(client: pg.Client, names: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ may: boolean }>(MAY_BOUND);
  if (rows[0]?.may !== true) return;
  for (const name of names)
    await client.query(`alter role ${pg.escapeIdentifier(name)} set temp_file_limit = '${BOUND}'`);
}
