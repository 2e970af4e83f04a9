import pg from 'pg';

/** A rename holds a lock to the end of its transaction, and of locks the whole server has some thousands. */
const AT_ONCE = 200;

interface Aside {
  readonly schema: string;
  readonly aside: string;
}

/**
 * No role is meant to own anything: what one has made, when it still could, was made for others to stumble on. It is taken from it and loses
 * its name, which waits for nobody and costs the same however much is in it. Who administers the server may drop it. Each page is
 * committed for itself: what was done stays done, so that as many as anybody has made come to an end.
 */
export async function setSchemasAside(
  client: pg.Client,
  database: string,
  name: string,
  tell: (line: string) => void,
): Promise<void> {
  let page = await ownedBy(client, name);
  if (page.length === AT_ONCE) {
    tell(`${name} owns ${AT_ONCE} schemas or more: they lose their names, which takes a while`);
  }
  while (page.length > 0) {
    await client.query('begin');
    await takePage(client, database, name, page);
    await client.query('commit');
    page = await ownedBy(client, name);
  }
}

async function ownedBy(client: pg.Client, name: string): Promise<readonly Aside[]> {
  // A name that could be foreseen might be taken.
  const { rows } = await client.query<Aside>(
    `select nspname as schema, 'set_aside_' || replace(gen_random_uuid()::text, '-', '') as aside
     from pg_namespace join pg_roles me on me.oid = nspowner
     where me.rolname = $1 and nspname !~ '^pg_(toast_)?temp_' limit ${AT_ONCE}`,
    [name],
  );
  return rows;
}

async function takePage(
  client: pg.Client,
  database: string,
  name: string,
  page: readonly Aside[],
): Promise<void> {
  const role = pg.escapeIdentifier(name);
  // Otherwise it could go on making them for as long as they are taken.
  await client.query(`revoke create on database ${pg.escapeIdentifier(database)} from public, ${role}`);
  await client.query(`grant ${role} to current_user`);
  for (const { schema, aside } of page) {
    await client.query(`alter schema ${pg.escapeIdentifier(schema)} owner to current_user`);
    await client.query(`alter schema ${pg.escapeIdentifier(schema)} rename to ${aside}`);
    await client.query(`revoke all on schema ${aside} from public, ${role}`);
  }
  await client.query(`revoke ${role} from current_user`);
}
