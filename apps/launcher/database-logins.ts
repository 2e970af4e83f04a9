import { randomBytes } from 'node:crypto';
import { databaseRoles, PROCESSES } from '#libs/platform/processes/catalogue.js';
import { prepareDatabaseRoles, urlAs } from '#libs/schema/roles/database-roles.js';

/** By database role, the URL with which its processes log in. */
export type DatabaseLogins = Readonly<Record<string, string>>;

/** Undefined if the role of the URL may not create roles: then all processes share it. */
export type PrepareLogins = (
  databaseUrl: string,
  tell: (line: string) => void,
) => Promise<DatabaseLogins | undefined>;

const ROLES = databaseRoles(PROCESSES);
const PASSWORD_BYTES = 24;

/** Each start sets new passwords. They exist only in the environment of their process. */
export const prepareLogins: PrepareLogins = async (databaseUrl, tell) => {
  const passwords = ROLES.map((role) => ({ role, password: randomBytes(PASSWORD_BYTES).toString('hex') }));
  const byRole = Object.fromEntries(passwords.map(({ role, password }) => [role, password]));
  if (!(await prepareDatabaseRoles(databaseUrl, byRole, { tell }))) return undefined;
  return Object.fromEntries(
    passwords.map(({ role, password }) => [role, urlAs(databaseUrl, role, password)]),
  );
};

export function sharedLogin(databaseUrl: string, roles: readonly string[] = ROLES): DatabaseLogins {
  return Object.fromEntries(roles.map((role) => [role, databaseUrl]));
}
