import { defineConfig, type Config } from '#libs/platform/settings/config.js';
import { httpUrl, listOf, nonEmpty, oneOf } from '#libs/platform/settings/setting-types.js';

/** Settings of every process that talks to venues. */
export const venueSettings = defineConfig({
  VENUES: {
    schema: listOf(oneOf('b', 'e')),
    describe: 'Venues to which orders go, separated by commas',
    default: 'b,e',
  },
  VENUE_B_URL: {
    schema: httpUrl().optional(),
    describe: 'Base URL of venue b, with /trade-api/v2',
  },
  VENUE_B_WS_URL: {
    schema: nonEmpty().optional(),
    describe: 'URL of the socket of venue b; by default /trade-api/ws/v2 at the host of VENUE_B_URL',
  },
  VENUE_B_ACCOUNTS_URL: {
    schema: httpUrl().optional(),
    describe: 'Where accounts of venue b are opened: the admin interface of a practice venue',
  },
  VENUE_E_URL: {
    schema: httpUrl().optional(),
    describe: 'Base URL of venue e',
  },
});

export type VenuesConfig = Config<typeof venueSettings>;

export function venueUrlsAreSet({
  VENUES: venues,
  VENUE_B_URL: b,
  VENUE_E_URL: e,
}: VenuesConfig): string | undefined {
  const urls = { b, e };
  const missing = venues.find((venue) => urls[venue] === undefined);
  return missing === undefined
    ? undefined
    : `VENUE_${missing.toUpperCase()}_URL is not set, and VENUES names ${missing}`;
}
