import { named } from '#libs/edge/documents/components.js';
import {
  anyText,
  constant,
  listOf,
  moment,
  record,
  recordOf,
  type Shape,
} from '#libs/edge/documents/shapes.js';
import { SESSION_COOKIE } from '#libs/identity/sessions/session-cookie.js';
import type { PublicJwk } from '#libs/identity/keys/signing-key.js';

const base64url: Shape = { describe: () => ({ type: 'string', pattern: '^[A-Za-z0-9_-]+$' }) };

export const session: Shape = named('Session', record({ access_token: anyText, expires_at: moment }));

export const keySet: Shape = named(
  'KeySet',
  record({
    keys: listOf(
      recordOf<PublicJwk>({
        kty: constant('RSA'),
        use: constant('sig'),
        alg: constant('RS256'),
        kid: anyText,
        n: base64url,
        e: base64url,
      }),
      { min: 1 },
    ),
  }),
);

/** For browsers, which keep the session token in this cookie. */
export const cookie: Readonly<Record<string, Shape>> = {
  'set-cookie': { describe: () => ({ type: 'string', pattern: `^${SESSION_COOKIE}=` }) },
};
