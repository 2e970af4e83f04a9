import { CAPABILITIES, ROLES, type Account } from '../principal.js';

export interface AccountRow {
  readonly account_id: string;
  readonly email: string;
  readonly display_name: string;
  readonly roles: readonly string[];
  readonly capabilities: readonly string[];
}

/** Of whoever has no enrolment in this service, or is disabled, these columns are null. */
export const ACCOUNT_COLUMNS = 'u.email, u.display_name, e.roles, e.capabilities';
export const ENROLLED = `e.service = 'AUCTION' and not u.disabled`;

export function accountOf(row: AccountRow): Account {
  return {
    accountId: row.account_id,
    email: row.email,
    displayName: row.display_name,
    roles: new Set(ROLES.filter((role) => row.roles.includes(role))),
    capabilities: new Set(CAPABILITIES.filter((capability) => row.capabilities.includes(capability))),
  };
}
