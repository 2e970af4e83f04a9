import { randomBytes } from 'node:crypto';
import { prepareDatabaseRoles, urlAs } from '#libs/schema/roles/database-roles.js';
import type { ProcessKind } from './process-kind.js';

/** As whom each kind of process speaks to the database. */
export type DatabaseLogins = Readonly<Record<ProcessKind, string>>;

/** Undefined where the role of the URL may not make others: then all processes share it. */
export type PrepareLogins = (
  databaseUrl: string,
  tell: (line: string) => void,
) => Promise<DatabaseLogins | undefined>;

const KINDS: readonly ProcessKind[] = ['owner', 'gateway', 'projector', 'settler'];
const PASSWORD_BYTES = 24;

/** The passwords are new at each start and stand nowhere but in the environment of their process. */
export const prepareLogins: PrepareLogins = async (databaseUrl, tell) => {
  const passwords = Object.fromEntries(
    KINDS.map((kind) => [kind, randomBytes(PASSWORD_BYTES).toString('hex')]),
  ) as Record<ProcessKind, string>;
  if (!(await prepareDatabaseRoles(databaseUrl, passwords, { tell }))) return undefined;
  return mapKinds((kind) => urlAs(databaseUrl, kind, passwords[kind]));
};

export function sharedLogin(databaseUrl: string): DatabaseLogins {
  return mapKinds(() => databaseUrl);
}

function mapKinds(urlOf: (kind: ProcessKind) => string): DatabaseLogins {
  return {
    owner: urlOf('owner'),
    gateway: urlOf('gateway'),
    projector: urlOf('projector'),
    settler: urlOf('settler'),
  };
}
