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

/** Reads the query parameters of a list of orders. */
export function orderSelection(query: Params): OrderListQuery {
  const limit = query.integer('limit', 1, MOST, USUAL);
  const offset = query.integer('offset', 0, FURTHEST, 0);
  const before_id = query.uuid('before_id');
  if (before_id !== undefined && query.text('offset') !== undefined) throw query.wrong('before_id');
  const exchange = query.text('exchange_id');
  const exchange_id = exchange === undefined ? undefined : venueNamed(exchange)?.venue;
  if (exchange !== undefined && exchange_id === undefined) throw query.wrong('exchange_id');
  const statuses = query.all('status').flatMap((word) => statusesOf(word, query));
  const selection = {
    ...{ before_id, exchange_id, market_id: query.text('market_id'), token_id: query.text('token_id') },
    ...{ statuses: statuses.length === 0 ? undefined : statuses, side: query.word('side', ['buy', 'sell']) },
    ...{ client_order_id: query.text('client_order_id'), bot_id: query.text('bot_id') },
    source: query.word('source', ['manual', 'bot', 'copytrade', 'api']),
    origin: query.word('origin', ['sotto', 'external']),
    submitted_after: query.time('submitted_after'),
    submitted_before: query.time('submitted_before'),
    updated_after: query.time('updated_after'),
  };
  return { limit, offset, ...present(selection) };
}

function statusesOf(word: string, query: Params): readonly OrderStatus[] {
  if (word === 'active') return LIVE;
  if (word === 'terminal') return TERMINAL;
  const found = [...LIVE, ...TERMINAL].find((status) => status === word);
  if (found === undefined) throw query.wrong('status');
  return [found];
}
