import type { Instant } from '#libs/base/instant.js';
import type { HoldingEvent, MovementKind } from '../events.js';
import { evolveHoldings, tokenOf, type Holdings } from '../holdings.js';
import type { Micros } from '../micros.js';
import type { VenueId } from '../venues.js';

export interface SeenMovement {
  readonly reference: string;
  readonly movement: MovementKind | 'PAIRS' | 'PAYOUT' | 'COLLATERAL' | 'OURS';
  readonly asset: string;
  readonly amount: Micros;
  readonly market_id?: string;
  readonly outcome?: string;
  readonly token_id?: string;
  readonly quantity?: Micros;
  readonly shard?: number;
  readonly occurred_at: Instant;
}

export interface SeenBalances {
  readonly user_id: string;
  readonly venue: VenueId;
  readonly cash: readonly { readonly asset: string; readonly value: Micros }[];
  readonly tokens: readonly {
    readonly market_id: string;
    readonly outcome: string;
    readonly token_id?: string;
    readonly quantity: Micros;
  }[];
  readonly movements: readonly SeenMovement[];
}

export interface BalanceGap {
  readonly asset: string;
  readonly recorded: Micros;
  readonly observed: Micros;
}

/** Events for movements in the venue's statement that are not booked yet. */
export function decideMovements(
  { user_id, venue, movements }: SeenBalances,
  isBooked: (reference: string) => boolean,
  at: Instant,
): HoldingEvent[] {
  const of = { at, user_id, venue };
  return movements.flatMap((movement): HoldingEvent[] => {
    const { reference, asset, amount, market_id, outcome, quantity, occurred_at } = movement;
    if (isBooked(reference)) return [];
    const shard = movement.shard === undefined ? {} : { shard: movement.shard };
    switch (movement.movement) {
      case 'PAIRS':
        return market_id === undefined
          ? []
          : [{ ...of, type: 'PAIRS_PAID', market_id, quantity: quantity ?? amount, reference, ...shard }];
      case 'PAYOUT': {
        if (market_id === undefined || outcome === undefined) return [];
        const token = movement.token_id === undefined ? {} : { token_id: movement.token_id };
        const paid = { market_id, outcome, ...token, quantity: quantity ?? 0n, payout: amount };
        return [{ ...of, type: 'POSITION_PAID', ...paid, reference, ...shard }];
      }
      case 'COLLATERAL':
      case 'OURS':
        return [];
      default: {
        const moved = { movement: movement.movement, entry_id: reference, asset, occurred_at, ...shard };
        return [{ ...of, type: 'BALANCE_MOVED', ...moved, amount: signed(movement.movement, amount) }];
      }
    }
  });
}

function signed(movement: MovementKind, amount: Micros): Micros {
  const size = amount < 0n ? -amount : amount;
  if (movement === 'DEPOSIT') return size;
  return movement === 'WITHDRAWAL' ? -size : amount;
}

/** Books the balances of a newly linked account as deposits, one for each asset. */
export function decideOpening(holdings: Holdings, seen: SeenBalances, at: Instant): HoldingEvent[] {
  const { user_id, venue } = seen;
  return gapsOf(holdings, seen).map(({ asset, recorded, observed }) => ({
    ...{ type: 'BALANCE_MOVED', at, user_id, venue, movement: 'DEPOSIT', asset },
    ...{ entry_id: `opening/${venue}/${asset}`, amount: observed - recorded, occurred_at: at },
  }));
}

/** Books out the cash of an account that is replaced by another one. Otherwise the ledger would keep its money. */
export function decideLeaving(
  { cash }: Holdings,
  of: { readonly user_id: string; readonly venue: VenueId; readonly at: Instant },
): HoldingEvent[] {
  const { venue, at } = of;
  return [...cash.values()].flatMap((held): HoldingEvent[] => {
    if (held.venue !== venue || held.value === 0n) return [];
    const { asset, value } = held;
    const entry = { entry_id: `leaving/${venue}/${asset}/${at}`, amount: -value, occurred_at: at };
    return [
      { type: 'BALANCE_MOVED', ...of, movement: value > 0n ? 'WITHDRAWAL' : 'DEPOSIT', asset, ...entry },
    ];
  });
}

/** Assets whose balance in our records differs from the venue's. */
export function gapsOf(holdings: Holdings, { venue, cash, tokens }: SeenBalances): BalanceGap[] {
  const recorded = new Map<string, Micros>();
  for (const { venue: at, asset, value } of holdings.cash.values())
    if (at === venue) recorded.set(asset, value);
  for (const position of holdings.positions.values()) {
    if (position.venue !== venue || position.wallet !== holdings.links.get(venue)?.account) continue;
    recorded.set(tokenOf(position), position.quantity);
  }
  const observed = new Map<string, Micros>();
  const add = (asset: string, value: Micros): unknown =>
    observed.set(asset, (observed.get(asset) ?? 0n) + value);
  for (const { asset, value } of cash) add(asset, value);
  for (const token of tokens) add(tokenOf(token), token.quantity);
  const assets = new Set([...recorded.keys(), ...observed.keys()]);
  return [...assets].flatMap((asset) => {
    const gap = { asset, recorded: recorded.get(asset) ?? 0n, observed: observed.get(asset) ?? 0n };
    return gap.recorded === gap.observed ? [] : [gap];
  });
}

export function afterEvents(holdings: Holdings, events: readonly HoldingEvent[]): Holdings {
  return events.reduce((after, event) => evolveHoldings(after, event, () => undefined), holdings);
}
