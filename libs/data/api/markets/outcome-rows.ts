import { statusOf } from '../../rules/markets.js';
import { dollars, unit } from '../../rules/scales.js';
import type { FoundMarket } from '../../store/market-reader.js';
import type { OutcomeNow } from '../../store/price-reader.js';
import type { AnsweredMarket } from '../upstream/answers.js';
import { timeOrNull, unitOrNull } from './market-facts.js';

export interface OutcomeRow {
  readonly market_id: string;
  readonly condition_id: string | null;
  readonly label: string | null;
  readonly outcome_index: number;
  readonly token_id: string | null;
  /** 0 to 1. */
  readonly price: number | null;
  /** In dollars. */
  readonly volume_24h: number | null;
  readonly liquidity: number | null;
  readonly status: string | null;
  readonly expires_at: string | null;
}

/** Prices and volumes of outcomes, by index. */
export interface OutcomeFigures {
  readonly now: readonly OutcomeNow[];
  readonly volumes: readonly bigint[];
}

export function outcomeRows({ state }: FoundMarket, { now, volumes }: OutcomeFigures): OutcomeRow[] {
  const { market_id, details } = state;
  return state.outcomes.map(({ label, token_id }, index) => {
    const { price = null, liquidity = null } = now[index] ?? {};
    return {
      ...{ market_id, condition_id: details.condition_id ?? null, label, outcome_index: index },
      token_id: token_id ?? null,
      price: price === null ? null : unit(price.price),
      volume_24h: dollars(volumes[index] ?? 0n),
      liquidity: liquidity === null ? null : dollars(liquidity),
      ...{ status: statusOf(state), expires_at: timeOrNull(details.expires_at) },
    };
  });
}

export function liveOutcomeRows(requestedId: string, live: AnsweredMarket): OutcomeRow[] {
  return live.outcomes.map(({ label, token_id, price }, index) => ({
    ...{ market_id: live.id ?? requestedId, condition_id: null, label, outcome_index: index, token_id },
    ...{ price: unitOrNull(price), volume_24h: null, liquidity: null, status: null },
    expires_at: timeOrNull(live.expires_at),
  }));
}
