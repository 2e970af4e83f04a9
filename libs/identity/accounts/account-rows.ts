import type { EnrolledUser, Enrolment, ServiceCatalogue } from '../principal.js';

interface EnrolmentRow {
  readonly roles: readonly string[];
  readonly capabilities: readonly string[];
}

export interface AccountRow {
  readonly account_id: string;
  readonly email: string;
  readonly display_name: string;
  readonly enrolments: Readonly<Record<string, EnrolmentRow>>;
}

/** Selects no row for a user that is disabled or has no enrolment. `condition` is about `u`, the user. */
export function enrolledUsersWhere(condition: string): string {
  return `
    select u.account_id, u.email, u.display_name,
      jsonb_object_agg(e.service, jsonb_build_object('roles', e.roles, 'capabilities', e.capabilities)) as enrolments
    from identity.users u join identity.enrolments e on e.account_id = u.account_id
    where not u.disabled and ${condition}
    group by u.account_id`;
}

export function enrolledUserOf(row: AccountRow, catalogues: readonly ServiceCatalogue[]): EnrolledUser {
  const enrolments = catalogues.flatMap((catalogue): [string, Enrolment][] => {
    const enrolled = row.enrolments[catalogue.service];
    return enrolled === undefined ? [] : [[catalogue.service, enrolmentOf(enrolled, catalogue)]];
  });
  return {
    accountId: row.account_id,
    email: row.email,
    displayName: row.display_name,
    enrolments: new Map(enrolments),
  };
}

/** Ignores roles and capabilities that the service does not know. */
function enrolmentOf(row: EnrolmentRow, { roles, capabilities }: ServiceCatalogue): Enrolment {
  return {
    roles: new Set(roles.filter((role) => row.roles.includes(role))),
    capabilities: new Set(capabilities.filter((capability) => row.capabilities.includes(capability))),
  };
}
