import type { OrderStatus } from '../../rules/order.js';
import { venueNamed } from '../../rules/venues.js';
import type { Params } from '../params.js';
import { present } from '../present.js';
import type { OrderListQuery } from '../../projections/reader/order-reader.js';

const LIVE: readonly OrderStatus[] = [
  ...(['queued', 'submitting', 'pending_venue', 'open', 'partially_filled'] as const),
  'cancel_requested',
];
const TERMINAL: readonly OrderStatus[] = ['filled', 'cancelled', 'expired', 'failed'];
const MOST = 200;
const USUAL = 50;
const FURTHEST = 10_000;

/** The parameters of a list of orders. */
export function orderSelection(given: Params): OrderListQuery {
  const limit = given.integer('limit', 1, MOST, USUAL);
  const offset = given.integer('offset', 0, FURTHEST, 0);
  const before_id = given.uuid('before_id');
  if (before_id !== undefined && given.text('offset') !== undefined) throw given.wrong('before_id');
  const exchange = given.text('exchange_id');
  const exchange_id = exchange === undefined ? undefined : venueNamed(exchange)?.venue;
  if (exchange !== undefined && exchange_id === undefined) throw given.wrong('exchange_id');
  const statuses = given.all('status').flatMap((word) => statusesOf(word, given));
  const selection = {
    ...{ before_id, exchange_id, market_id: given.text('market_id'), token_id: given.text('token_id') },
    ...{ statuses: statuses.length === 0 ? undefined : statuses, side: given.word('side', ['buy', 'sell']) },
    ...{ client_order_id: given.text('client_order_id'), bot_id: given.text('bot_id') },
    source: given.word('source', ['manual', 'bot', 'copytrade', 'api']),
    origin: given.word('origin', ['sotto', 'external']),
    submitted_after: given.time('submitted_after'),
    submitted_before: given.time('submitted_before'),
    updated_after: given.time('updated_after'),
  };
  return { limit, offset, ...present(selection) };
}

function statusesOf(word: string, given: Params): readonly OrderStatus[] {
  if (word === 'active') return LIVE;
  if (word === 'terminal') return TERMINAL;
  const found = [...LIVE, ...TERMINAL].find((status) => status === word);
  if (found === undefined) throw given.wrong('status');
  return [found];
}
