import type { ClientBase } from 'pg';
import { LIVE, schemaNames, type Schemas } from '../schemas.js';
import { CATALOGUE, qualified } from '../table-catalogue.js';

type Client = Pick<ClientBase, 'query'>;

/** Schemas and tables that are to take the place of those in use. */
export async function createCopies(client: Client, copies: Schemas): Promise<void> {
  for (const schema of schemaNames(copies)) await client.query(`create schema ${schema}`);
  await createTables(client, copies, 'create table');
  await copyRights(client, copies);
}

/** Tables that are only looked at and thrown away, in the session's own schema: no two of them have one name. */
export async function createPassingTables(client: Client, copies: Schemas): Promise<void> {
  await createTables(client, copies, 'create temporary table');
}

/** Empty, and the same in every respect as those in use, whatever migrations have made of them. */
async function createTables(client: Client, copies: Schemas, create: string): Promise<void> {
  for (const table of CATALOGUE) {
    await client.query(
      `${create} ${qualified(table, copies)} (like ${qualified(table, LIVE)} including all)`,
    );
  }
}

const RIGHTS_ON_SCHEMA = `
  select 'grant ' || right_.privilege_type || ' on schema ' || $2 || ' to ' || right_.grantee::regrole as statement
  from pg_namespace as place, aclexplode(place.nspacl) as right_
  where place.oid = $1::regnamespace and right_.grantee not in (0, place.nspowner)`;
const RIGHTS_ON_TABLE = `
  select 'grant ' || right_.privilege_type || ' on table ' || $2 || ' to ' || right_.grantee::regrole as statement
  from pg_class as place, aclexplode(place.relacl) as right_
  where place.oid = $1::regclass and right_.grantee not in (0, place.relowner)`;

/** `like` takes no rights along, and whoever reads the tables in use is to read those that take their place. */
async function copyRights(client: Client, copies: Schemas): Promise<void> {
  const places = [
    ...schemaNames(LIVE).map((name, index) => [RIGHTS_ON_SCHEMA, name, schemaNames(copies)[index]] as const),
    ...CATALOGUE.map((table) => [RIGHTS_ON_TABLE, qualified(table, LIVE), qualified(table, copies)] as const),
  ];
  for (const [rights, from, to] of places) {
    const { rows } = await client.query<{ statement: string }>(rights, [from, to]);
    for (const { statement } of rows) await client.query(statement);
  }
}

export async function dropCopies(client: Client, copies: Schemas): Promise<void> {
  for (const schema of schemaNames(copies)) await client.query(`drop schema if exists ${schema} cascade`);
}
