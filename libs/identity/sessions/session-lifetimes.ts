import { defineConfig } from '#libs/platform/settings/config.js';
import { hexKeys, integer } from '#libs/platform/settings/setting-types.js';
import { DAY_S, HOUR_S } from '../epoch.js';
import { MAX_TOKEN_S } from '../tokens/claims.js';

export const MAX_REFRESH_S = 4 * HOUR_S;
export const MAX_SESSION_S = DAY_S + 4 * HOUR_S;

export interface SessionLifetimes {
  /** How long a token is valid. */
  readonly tokenSeconds: number;
  /** How long after its expiry a token can still be refreshed. */
  readonly refreshSeconds: number;
  /** How long a login lasts, whatever its refreshes. */
  readonly sessionSeconds: number;
}

/** The specified maxima are the defaults, so the settings can only shorten them. */
export const sessionSettings = defineConfig({
  SESSION_TTL_S: {
    schema: integer(1, MAX_TOKEN_S),
    describe: 'Seconds for which a session token is valid',
    default: String(MAX_TOKEN_S),
  },
  SESSION_REFRESH_S: {
    schema: integer(0, MAX_REFRESH_S),
    describe: 'Seconds after its end in which a session token can be refreshed',
    default: String(MAX_REFRESH_S),
  },
  SESSION_MAX_S: {
    schema: integer(1, MAX_SESSION_S),
    describe: 'Seconds that a login lasts, however often its token is refreshed',
    default: String(MAX_SESSION_S),
  },
  SESSION_KEK: {
    schema: hexKeys(),
    describe:
      'Keys that encrypt the signing keys of session tokens in the database: the first encrypts, all decrypt',
    secret: true,
  },
});

export const LONGEST_LIFETIMES: SessionLifetimes = {
  tokenSeconds: MAX_TOKEN_S,
  refreshSeconds: MAX_REFRESH_S,
  sessionSeconds: MAX_SESSION_S,
};

export function lifetimesOf(config: {
  readonly SESSION_TTL_S: number;
  readonly SESSION_REFRESH_S: number;
  readonly SESSION_MAX_S: number;
}): SessionLifetimes {
  return {
    tokenSeconds: config.SESSION_TTL_S,
    refreshSeconds: config.SESSION_REFRESH_S,
    sessionSeconds: config.SESSION_MAX_S,
  };
}
