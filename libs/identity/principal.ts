export const ROLES = ['ORIGINATOR', 'MARKET_MAKER', 'OPERATOR', 'AUDITOR', 'VIEWER'] as const;
export type Role = (typeof ROLES)[number];

/** They only let a request reach the policy store, which is what really decides. */
export const CAPABILITIES = ['auction:create', 'auction:quote'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** A user that is enrolled in the auction service and not disabled. */
export interface Account {
  /** Canonical lower-case UUID, the same in events, tokens and paths. */
  readonly accountId: string;
  readonly email: string;
  readonly displayName: string;
  readonly roles: ReadonlySet<Role>;
  readonly capabilities: ReadonlySet<Capability>;
}

/** Whoever a verified token stands for. Everything but the last three comes from the enrolment, not from the token. */
export interface Principal extends Account {
  readonly sid: string;
  readonly jti: string;
  /** In seconds since 1970. */
  readonly expiresAt: number;
}

export type Verification =
  | { readonly ok: true; readonly principal: Principal }
  | { readonly ok: false; readonly reason: 'unauthorized' | 'unavailable' };

export const UNAUTHORIZED: Verification = { ok: false, reason: 'unauthorized' };
/** Nobody can say at present whether the token still holds, so it does not. */
export const UNAVAILABLE: Verification = { ok: false, reason: 'unavailable' };
