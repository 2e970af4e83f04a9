import { isUnanswered } from '#libs/platform/database/postgres.js';

/** Field names as in the JSON of the API. */
export interface IssuedToken {
  readonly ok: true;
  readonly access_token: string;
  readonly expires_at: string;
}

export interface Refusal<R extends string> {
  readonly ok: false;
  readonly reason: R;
}

export type LoginResult = IssuedToken | Refusal<'invalid' | 'throttled' | 'unavailable'>;
export type ConfirmResult = { readonly ok: true } | Refusal<'invalid' | 'throttled' | 'unavailable'>;
export type RefreshResult = IssuedToken | Refusal<'unauthorized' | 'unavailable'>;
export type LogoutResult = { readonly ok: true } | Refusal<'unauthorized' | 'unavailable'>;

export function refused<R extends string>(reason: R): Refusal<R> {
  return { ok: false, reason };
}

/** Turns the error of an unreachable database into a refusal. Other errors are bugs, and are thrown. */
export async function unlessUnreachable<T>(work: () => Promise<T>): Promise<T | Refusal<'unavailable'>> {
  try {
    return await work();
  } catch (error) {
    if (isUnanswered(error)) return refused('unavailable');
    throw error;
  }
}
