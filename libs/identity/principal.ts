/** The roles and capabilities that one service knows. Identity has none of its own. */
export interface ServiceCatalogue {
  readonly service: string;
  readonly roles: readonly string[];
  readonly capabilities: readonly string[];
}

/** What an account may do in one service. */
export interface Enrolment {
  readonly roles: ReadonlySet<string>;
  readonly capabilities: ReadonlySet<string>;
}

interface Person {
  /** Canonical lower-case UUID, the same in events, tokens and paths. */
  readonly accountId: string;
  readonly email: string;
  readonly displayName: string;
}

/** A user that is not disabled and is enrolled somewhere. */
export interface EnrolledUser extends Person {
  /** By service; empty for a service that has no catalogue here. */
  readonly enrolments: ReadonlyMap<string, Enrolment>;
}

/** The account of a verified token, in one service. All but the last three fields come from the enrolment, not from the token. */
export interface Principal extends Person, Enrolment {
  readonly sid: string;
  readonly jti: string;
  /** In seconds since 1970. */
  readonly expiresAt: number;
}

export type Verification =
  | { readonly ok: true; readonly principal: Principal }
  | { readonly ok: false; readonly reason: 'unauthorized' | 'unavailable' };

export const UNAUTHORIZED: Verification = { ok: false, reason: 'unauthorized' };
/** Whether the token is still valid is unknown, so it is refused. */
export const UNAVAILABLE: Verification = { ok: false, reason: 'unavailable' };

/** Throws for words that the service does not know. */
export function requireKnown(
  { service, roles, capabilities }: ServiceCatalogue,
  given: { readonly roles: readonly string[]; readonly capabilities: readonly string[] },
): void {
  const unknown = [
    ...given.roles.filter((role) => !roles.includes(role)),
    ...given.capabilities.filter((capability) => !capabilities.includes(capability)),
  ];
  if (unknown.length > 0) throw new RangeError(`${service} knows no ${unknown.join(', ')}`);
}
