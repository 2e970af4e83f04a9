import { z } from 'zod';
import { DAY_S } from '../epoch.js';

export const ISSUER = 'https://auth.sotto.exchange';
export const AUDIENCE = 'sotto-api';
export const TOKEN_VERSION = 1;
/** No token is valid for longer, whatever the settings were when it was issued. */
export const MAX_TOKEN_S = DAY_S;
/** Tokens are dated this much before the gateway's clock, so that a slightly slower clock does not see them as from the future. */
export const CLOCK_ALLOWANCE_S = 2;

const canonicalUuid = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);

/** Types must match exactly: `"1"` is not a version, and a list is not an audience. Other claims are dropped. */
const claimsSchema = z.object({
  iss: z.literal(ISSUER),
  aud: z.literal(AUDIENCE),
  ver: z.literal(TOKEN_VERSION),
  sub: canonicalUuid,
  sid: canonicalUuid,
  jti: canonicalUuid,
  iat: z.int().nonnegative(),
  exp: z.int().nonnegative(),
  nbf: z.int().optional(),
  email: z.string().optional(),
});

export type Claims = z.output<typeof claimsSchema>;

/** Checks everything about the claims that does not depend on the time. Callers check the expiry. */
export function parseClaims(payload: unknown): Claims | undefined {
  const { success, data } = claimsSchema.safeParse(payload);
  return success && hasValidLifetime(data) ? data : undefined;
}

/** The claims of a token for any audience and of any version. */
const bareClaimsSchema = claimsSchema.omit({ aud: true, ver: true });

/** Like `parseClaims`, but without audience and version, for which some services have refusals of their own. */
export function parseBareClaims(payload: unknown): Omit<Claims, 'aud' | 'ver'> | undefined {
  const { success, data } = bareClaimsSchema.safeParse(payload);
  return success && hasValidLifetime(data) ? data : undefined;
}

export function isForUs(payload: object): boolean {
  return 'aud' in payload && payload.aud === AUDIENCE;
}

export function isOfPresentVersion(payload: object): boolean {
  return 'ver' in payload && payload.ver === TOKEN_VERSION;
}

function hasValidLifetime({ iat, exp }: Pick<Claims, 'iat' | 'exp'>): boolean {
  return exp > iat && exp - iat <= MAX_TOKEN_S;
}

export function isFromTheFuture({ iat, nbf }: Pick<Claims, 'iat' | 'nbf'>, nowSeconds: number): boolean {
  return Math.max(iat, nbf ?? iat) > nowSeconds;
}

export function isExpired({ exp }: Pick<Claims, 'exp'>, nowSeconds: number): boolean {
  return nowSeconds >= exp;
}
