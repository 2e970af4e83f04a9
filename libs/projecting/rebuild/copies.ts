import type { ClientBase } from 'pg';
import { qualified, schemasOf, tablesOf, type ProjectionTables, type SchemaOf } from '../projection.js';

type Client = Pick<ClientBase, 'query'>;

/** Creates the schemas and tables that are to replace the live ones. */
export async function createCopies(
  client: Client,
  projection: ProjectionTables,
  copyOf: SchemaOf,
): Promise<void> {
  for (const schema of schemasOf(projection)) await client.query(`create schema ${copyOf(schema)}`);
  await createTables(client, projection, copyOf, 'create table');
  await copyRights(client, projection, copyOf);
}

/** Creates all tables in one schema, so no two tables of a projection may have the same name. */
export async function createTemporaryCopies(
  client: Client,
  projection: ProjectionTables,
  copyOf: SchemaOf,
): Promise<void> {
  await createTables(client, projection, copyOf, 'create temporary table');
}

/** Creates empty tables like the live ones, which migrations have made. */
async function createTables(
  client: Client,
  projection: ProjectionTables,
  copyOf: SchemaOf,
  create: string,
): Promise<void> {
  for (const table of tablesOf(projection)) {
    await client.query(`${create} ${qualified(table, copyOf)} (like ${qualified(table)} including all)`);
  }
}

const RIGHTS_ON_SCHEMA = `
  select 'grant ' || right_.privilege_type || ' on schema ' || $2 || ' to ' || right_.grantee::regrole as statement
  from pg_namespace as object, aclexplode(object.nspacl) as right_
  where object.oid = $1::regnamespace and right_.grantee not in (0, object.nspowner)`;
const RIGHTS_ON_TABLE = `
  select 'grant ' || right_.privilege_type || ' on table ' || $2 || ' to ' || right_.grantee::regrole as statement
  from pg_class as object, aclexplode(object.relacl) as right_
  where object.oid = $1::regclass and right_.grantee not in (0, object.relowner)`;

/** `like` copies no rights, and readers of the live tables must be able to read the new ones. */
async function copyRights(client: Client, projection: ProjectionTables, copyOf: SchemaOf): Promise<void> {
  const copied = [
    ...schemasOf(projection).map((schema) => [RIGHTS_ON_SCHEMA, schema, copyOf(schema)] as const),
    ...tablesOf(projection).map(
      (table) => [RIGHTS_ON_TABLE, qualified(table), qualified(table, copyOf)] as const,
    ),
  ];
  for (const copy of copied) await grantAs(client, copy);
}

type CopiedRights = readonly [rights: string, from: string, to: string];

/** For a table that replaces another. */
export function copyRightsOnTable(client: Client, from: string, to: string): Promise<void> {
  return grantAs(client, [RIGHTS_ON_TABLE, from, to]);
}

async function grantAs(client: Client, [rights, from, to]: CopiedRights): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(rights, [from, to]);
  for (const { statement } of rows) await client.query(statement);
}

export async function dropCopies(
  client: Client,
  projection: ProjectionTables,
  copyOf: SchemaOf,
): Promise<void> {
  for (const schema of schemasOf(projection))
    await client.query(`drop schema if exists ${copyOf(schema)} cascade`);
}
