import type { ClientBase } from 'pg';
import { LIVE, schemaNames, type Schemas } from '../schemas.js';
import { CATALOGUE, qualified } from '../table-catalogue.js';

type Client = Pick<ClientBase, 'query'>;

/**
 * Empty tables, the same in every respect as those in use, whatever migrations have made of them. Those that are only looked
 * at and thrown away need not survive a crash.
 */
export async function createCopies(client: Client, copies: Schemas, kind: 'kept' | 'passing'): Promise<void> {
  const create = kind === 'kept' ? 'create table' : 'create unlogged table';
  for (const schema of schemaNames(copies)) await client.query(`create schema ${schema}`);
  for (const table of CATALOGUE) {
    await client.query(
      `${create} ${qualified(table, copies)} (like ${qualified(table, LIVE)} including all)`,
    );
  }
}

export async function dropCopies(client: Client, copies: Schemas): Promise<void> {
  for (const schema of schemaNames(copies)) await client.query(`drop schema if exists ${schema} cascade`);
}
