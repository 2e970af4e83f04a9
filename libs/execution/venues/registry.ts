import type { Clock } from '#libs/platform/time/clock.js';
import { SignerFailure, type Signer } from '../protocol/signer-protocol.js';
import type { VenueId } from '../rules/venues.js';
import { VenueB } from './b/venue-b.js';
import { VenueE } from './e/venue-e.js';
import type { Venue } from './port.js';
import type { VenuesConfig } from './venue-settings.js';

/** Without a signer, only the public data of venues can be read. */
export function openVenues(
  settings: VenuesConfig,
  { clock, signer = NO_SIGNER }: { readonly clock: Clock; readonly signer?: Signer },
): ReadonlyMap<VenueId, Venue> {
  const venues: Venue[] = [];
  const { VENUE_B_URL: url, VENUE_B_WS_URL: ws_url, VENUE_B_ACCOUNTS_URL: accounts_url } = settings;
  if (settings.VENUES.includes('b') && url !== undefined)
    venues.push(new VenueB({ settings: { url, ws_url, accounts_url }, signer, clock }));
  if (settings.VENUES.includes('e') && settings.VENUE_E_URL !== undefined)
    venues.push(new VenueE({ settings: { url: settings.VENUE_E_URL }, signer, clock }));
  return new Map(venues.map((venue) => [venue.id, venue]));
}

function noSigner(): Promise<never> {
  return Promise.reject(new SignerFailure('SIGNER_UNAVAILABLE', 'this process signs nothing'));
}

const NO_SIGNER: Signer = {
  sign: noSigner,
  createKey: noSigner,
  nameKey: noSigner,
  storeKey: noSigner,
  accountOf: noSigner,
  status: noSigner,
};
