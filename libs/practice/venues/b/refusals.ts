import type { VenueRefusal } from '../../venue/terms.js';
import type { VenueAnswer } from '../venue-shell.js';

/** Errors of the protocol: a code and a text. */
export function refused(status: number, code: string, message: string): VenueAnswer {
  return { status, body: { code, message } };
}

const REFUSALS: Readonly<Record<VenueRefusal, readonly [status: number, code: string]>> = {
  'unknown-market': [404, 'market_not_found'],
  'not-open': [409, 'market_not_active'],
  'off-grid': [400, 'invalid_price'],
  'bad-size': [400, 'invalid_count'],
  'no-cash': [400, 'insufficient_balance'],
  'no-shares': [400, 'insufficient_position'],
  'would-cross': [400, 'post_only_cross'],
  'not-filled': [409, 'fill_or_kill_insufficient_resting_volume'],
  duplicate: [409, 'order_already_exists'],
  'duplicate-client-id': [409, 'order_already_exists'],
  'unknown-order': [404, 'not_found'],
  'unknown-account': [404, 'not_found'],
  'not-resting': [404, 'order_not_resting'],
  known: [409, 'already_exists'],
  resolved: [409, 'market_not_active'],
};

export function refusalAnswer(refusal: VenueRefusal): VenueAnswer {
  const [status, code] = REFUSALS[refusal];
  return refused(status, code, refusal.replaceAll('-', ' '));
}

export const invalid = (message: string): VenueAnswer => refused(400, 'invalid_parameters', message);
export const notFound = (message: string): VenueAnswer => refused(404, 'not_found', message);
