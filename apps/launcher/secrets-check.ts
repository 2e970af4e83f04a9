import { stat } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { KEPT } from '#libs/platform/database/postgres.js';
import { isCodedError, EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { findSecrets, keepNewSecrets, keepRenewed, secretsPath, type ClusterSecrets } from './secrets.js';

/**
 * Secrets and database depend on each other: ids follow from the keys, and the signing keys are encrypted. If
 * one is missing, a new one would do damage that shows much later.
 */
export async function checkedSecrets(
  dataFolder: string,
  database: { readonly url: string },
  tell: (what: string) => void,
): Promise<ClusterSecrets> {
  const found = await findSecrets(dataFolder);
  if (found !== undefined) {
    const { renewed, secrets } = found;
    if (renewed.length > 0) {
      await keepRenewed(dataFolder, found);
      tell(
        `${secretsPath(dataFolder)} had no ${renewed.join(', no ')}: made a new one; anything that a lost one protected is invalid`,
      );
    }
    return secrets;
  }
  if (await hasServed(database.url)) {
    throw new StartFault(
      `the database has served a cluster, and ${secretsPath(dataFolder)} with its secrets is missing: ` +
        'put it back from a backup, or start again with another database or DATA_DIR',
      EXIT.damaged,
    );
  }
  return await keepNewSecrets(dataFolder);
}

/** Call it before an embedded database is made: afterwards a new database looks like the old one. */
export async function refuseSecretsWithoutDatabase(dataFolder: string): Promise<void> {
  const data = path.join(dataFolder, 'postgres', 'data');
  if ((await findSecrets(dataFolder)) === undefined || (await isThere(data))) return;
  throw new StartFault(
    `${secretsPath(dataFolder)} belongs to a database that is not there (${data}): put it back from a backup, ` +
      'set DATABASE_URL if a server elsewhere has it, or start again with another DATA_DIR',
    EXIT.damaged,
  );
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    (error: unknown) => !isCodedError(error) || error.code !== 'ENOENT',
  );
}

/** Gateways make their first signing key before they serve, so its row marks a used database. */
async function hasServed(databaseUrl: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'sotto-launcher',
    options: KEPT,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const table = await client.query<{ known: boolean }>(
      `select to_regclass('identity.signing_keys') is not null as known`,
    );
    if (table.rows[0]?.known !== true) return false;
    return (await client.query('select from identity.signing_keys limit 1')).rowCount === 1;
  } finally {
    await client.end().catch(() => undefined);
  }
}
