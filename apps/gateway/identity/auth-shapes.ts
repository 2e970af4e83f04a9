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
