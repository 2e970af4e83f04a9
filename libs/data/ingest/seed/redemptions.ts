import type { LedgerEvent, MarketDataEvent } from '../../rules/events.js';
import { MINUTE } from './calendar.js';
import { digest } from './identities.js';
import type { SeedMarket } from './market.js';
import { eventsOfMoment } from './trading.js';
import { momentsOf } from './turns.js';
import { isWithin, type WorldSpan } from './spans.js';

const AFTER = 30 * MINUTE;
const ON_CHAIN = ['venue_a', 'venue_c', 'venue_d'];

/** On venues that do not pay out by themselves, wallets redeem what they hold half an hour after settlement. */
export function redemptionsOf(market: SeedMarket, span: WorldSpan): LedgerEvent[] {
  const settled = market.life.find(isSettlement);
  if (settled === undefined || !ON_CHAIN.includes(market.provider)) return [];
  const at = settled.received_at + AFTER;
  if (!isWithin(at, span)) return [];
  return [...holdingsOf(market)].flatMap(([name, size], index) => {
    const [wallet = '', outcome = ''] = name.split(' ');
    const outcome_index = Number(outcome);
    if (size <= 0n || settled.payouts[outcome_index] === 0) return [];
    return {
      ...{ type: 'LEDGER', provider: market.provider, market_id: market.market_id, kind: 'REDEEM' },
      source_id: `redeem-${digest(market.provider, market.market_id, wallet, outcome).slice(0, 40)}`,
      ...{ source_ts: at + index, received_at: at + index, wallet, outcome_index, size },
    };
  });
}

function isSettlement(event: MarketDataEvent): event is MarketDataEvent & { readonly type: 'RESOLUTION' } {
  return event.type === 'RESOLUTION' && event.status === 'settled';
}

/** The holdings by wallet and outcome. */
function holdingsOf(market: SeedMarket): Map<string, bigint> {
  const holdings = new Map<string, bigint>();
  for (const moment of momentsOf(market, 0, Infinity)) {
    for (const event of eventsOfMoment(market, moment)) {
      if (event.type !== 'LEDGER') continue;
      const outcomes =
        event.outcome_index === undefined
          ? market.outcomes.map((_outcome, index) => index)
          : [event.outcome_index];
      const sign = ['BUY', 'SPLIT', 'TRANSFER_IN'].includes(event.kind) ? 1n : -1n;
      for (const outcome of outcomes) {
        const name = `${event.wallet} ${String(outcome)}`;
        holdings.set(name, (holdings.get(name) ?? 0n) + sign * event.size);
      }
    }
  }
  return holdings;
}
