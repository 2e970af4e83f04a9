/** The roles and capabilities that one service knows. Identity has none of its own. */
export interface ServiceCatalogue {
  readonly service: string;
  readonly roles: readonly string[];
  readonly capabilities: readonly string[];
}

/** The roles and capabilities of an account in one service. */
export interface Enrolment {
  readonly roles: ReadonlySet<string>;
  readonly capabilities: ReadonlySet<string>;
}

interface AccountDetails {
  /** Canonical lower-case UUID, the same in events, tokens and paths. */
  readonly accountId: string;
  readonly email: string;
  readonly displayName: string;
}

/** A user that is not disabled and is enrolled somewhere. */
export interface EnrolledUser extends AccountDetails {
  /** By service. Services without a catalogue in this process are missing. */
  readonly enrolments: ReadonlyMap<string, Enrolment>;
}

/** The account of a verified token, in one service. All but the last three fields come from the database, not from the token. */
export interface Principal extends AccountDetails, Enrolment {
  readonly sid: string;
  readonly jti: string;
  /** In seconds since 1970. */
  readonly expiresAt: number;
}

export type Verification =
  | { readonly ok: true; readonly principal: Principal }
  | { readonly ok: false; readonly reason: 'unauthorized' | 'unavailable' };

export const UNAUTHORIZED: Verification = { ok: false, reason: 'unauthorized' };
/** It is unknown whether the token is still valid, so it is refused. */
export const UNAVAILABLE: Verification = { ok: false, reason: 'unavailable' };

/** Throws for roles and capabilities that the service does not know. */
export function requireKnown(
  { service, roles, capabilities }: ServiceCatalogue,
  requested: { readonly roles: readonly string[]; readonly capabilities: readonly string[] },
): void {
  const unknown = [
    ...requested.roles.filter((role) => !roles.includes(role)),
    ...requested.capabilities.filter((capability) => !capabilities.includes(capability)),
  ];
  if (unknown.length > 0) throw new RangeError(`${service} knows no ${unknown.join(', ')}`);
}
