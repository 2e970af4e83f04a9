/** The cookie with a browser's token. Scripts cannot read it, and pages of other sites cannot send it. */
export const SESSION_COOKIE = 'custody_session_jwt';

const ATTRIBUTES = 'HttpOnly; Secure; SameSite=Strict; Path=/';

export function sessionCookie(token: string): string {
  return `${SESSION_COOKIE}=${token}; ${ATTRIBUTES}`;
}

export const CLEARED_COOKIE = `${SESSION_COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;
