import { plusMillis, type Instant } from '#libs/base/instant.js';
import { floorSize } from '../../rules/amounts.js';
import { feeOf, type Liquidity } from '../../rules/fees.js';
import type { MarketOutcome } from '../../rules/markets.js';
import { dividedBy, ONE, printMicros, timesMicros, type Micros } from '../../rules/micros.js';
import { printTime } from '../../rules/record.js';
import { CAPABILITIES, type VenueId } from '../../rules/venues.js';
import type { Params } from '../params.js';
import { refuse } from '../refusals.js';
import type { Venues } from '../venues.js';
import { outcomeOf } from './market-of-order.js';

const VALID_MS = 10_000;
const MOST_QUANTITY = 1_000_000n * ONE;

interface FeeQuestion {
  readonly venue: VenueId;
  readonly side: 'buy' | 'sell';
  readonly kind: 'market' | 'limit';
  readonly quantity: Micros;
  readonly price: Micros;
  readonly post_only: boolean;
}

/** The fee of one fill at the query price. */
export async function quoteFee(
  query: Params,
  venues: Venues,
  now: Instant,
): Promise<Record<string, unknown>> {
  const venue = venues.named(query.required('exchange_id'))?.venue;
  if (venue === undefined) throw query.wrong('exchange_id');
  if (venue === 'venue_e') {
    throw refuse('EXCHANGE_FEE_QUOTE_UNSUPPORTED', 'venue_e has no fees to quote');
  }
  const market_id = query.required('market_id');
  const [token_id, outcome] = [query.text('token_id'), query.text('outcome')];
  const question = questionIn(query, venue);
  const market = await venues.market(venue, market_id);
  const named = outcomeOf(
    {
      ...{ venue, market_id },
      ...(token_id === undefined ? {} : { token_id }),
      ...(outcome === undefined ? {} : { outcome }),
    },
    market,
  );
  const liquidity = await liquidityOf(question, market.market_id, named, venues);
  return quoted(question, liquidity, now);
}

function questionIn(query: Params, venue: VenueId): FeeQuestion {
  const side = query.word('side', ['buy', 'sell']);
  if (side === undefined) throw query.wrong('side');
  const kind = query.word('kind', ['market', 'limit']);
  if (kind === undefined) throw query.wrong('kind');
  const whole = query.micros('quantity', (value) => value > 0n && value <= MOST_QUANTITY);
  const quantity = floorSize(venue, side, whole);
  if (quantity === 0n) throw query.wrong('quantity');
  const price = query.micros('price', (value) => value > 0n && value <= ONE);
  const post_only = query.word('post_only', ['true', 'false']) === 'true';
  return { venue, side, kind, quantity, price, post_only };
}

async function liquidityOf(
  { venue, side, kind, price, post_only }: FeeQuestion,
  market_id: string,
  { index }: MarketOutcome,
  venues: Venues,
): Promise<Liquidity> {
  if (kind === 'market') return 'taker';
  if (post_only) return 'maker';
  const { bid, ask } = await venues.asked(() => venues.of(venue).best(market_id, index));
  const crosses = side === 'buy' ? ask !== undefined && price >= ask : bid !== undefined && price <= bid;
  return crosses ? 'taker' : 'maker';
}

function quoted(
  { venue, side, quantity, price }: FeeQuestion,
  liquidity: Liquidity,
  now: Instant,
): Record<string, unknown> {
  const against = side === 'buy' ? 'up' : 'down';
  const notional = timesMicros(price, quantity, against);
  const fee = feeOf(venue, { price, quantity, liquidity });
  const total = side === 'buy' ? notional + fee : notional - fee;
  return {
    ...{ fee_model: CAPABILITIES[venue].fee_model, liquidity, notional: printMicros(notional) },
    ...{ venue_fee: printMicros(fee), platform_fee: '0', gas_fee: '0', total_fee: printMicros(fee) },
    currency: CAPABILITIES[venue].settlement_currency,
    effective_price: printMicros(dividedBy(total * ONE, quantity, against)),
    fee_source: 'schedule',
    valid_until: printTime(plusMillis(now, VALID_MS)),
  };
}
