import type { Pool } from 'pg';
import type { AuctionEvent } from '../rules/events.js';
import { evolve } from '../rules/evolve/evolve.js';
import { holdsOf } from '../rules/holds-of.js';
import type { AuctionState } from '../rules/state.js';
import { decodeEvent, isOfAuction } from '../rules/event-versions.js';
import type { AwardToSettle } from '../settlement/settlement.js';
import { awardToSettle, unended } from '../shard/pending-awards.js';
import type { JournalEntry } from '#libs/journal/journal.js';

/** The reserved amount of one account's resource on one shard, and the amount that the journal promises. */
export interface Imbalance {
  readonly shard: number;
  readonly account: string;
  readonly resource: string;
  readonly journal: number;
  readonly reserved: number;
}

export interface ReservationCheck {
  readonly resources: number;
  /** Less is reserved than the journal promises, so the same could be promised again. */
  readonly missing: readonly Imbalance[];
  /** More is reserved, left over from a killed owner. The next owner releases it. */
  readonly surplus: readonly Imbalance[];
}

interface Row {
  readonly shard: number;
  readonly name: string;
  readonly amount: number;
}

const RESERVED = `
  select held.shard, concat_ws(' ', account_id, venue, resource, asset) as name, held.amount from risk.reserved
  cross join lateral (values (0, shard_0), (1, shard_1), (2, shard_2)) as held (shard, amount)
  where held.amount <> 0`;

/** The live auctions of a shard, built from its journal. */
export class HeldByJournal {
  private readonly live = new Map<string, AuctionState>();

  /** `onEvent` is called with every event of an auction, and the auction's state after it. */
  constructor(
    readonly shard: number,
    private readonly onEvent?: (position: number, event: AuctionEvent, after: AuctionState) => void,
  ) {}

  take(entries: readonly JournalEntry[]): void {
    for (const { kind, payload, sequence: position } of entries) {
      if (kind !== 'event') continue;
      const event = decodeEvent(payload);
      if (!isOfAuction(event)) continue;
      const state = evolve(this.live.get(event.auction_id), { event, position });
      this.onEvent?.(position, event, state);
      if (state.completed_at === undefined) this.live.set(event.auction_id, state);
      else this.live.delete(event.auction_id);
    }
  }

  /** Awards whose end is not in the journal. */
  get pending(): AwardToSettle[] {
    return [...this.live.values()].flatMap((state) =>
      unended(state).map((award) => awardToSettle(state, award)),
    );
  }

  amounts(): Map<string, number> {
    const amounts = new Map<string, number>();
    for (const state of this.live.values()) {
      for (const [account, holds] of holdsOf(state)) {
        for (const { venue, resource, asset, amount } of holds) {
          const name = [account, venue, resource, asset].join(' ');
          amounts.set(name, (amounts.get(name) ?? 0) + amount);
        }
      }
    }
    return amounts;
  }
}

/** Valid only for shards without a running owner: an owner reserves before it journals, and releases afterwards. */
export async function checkReservations(
  pool: Pool,
  held: readonly HeldByJournal[],
): Promise<ReservationCheck> {
  const { rows } = await pool.query<Row>(RESERVED);
  const all = held.flatMap((journal) => {
    return imbalances(
      journal,
      rows.filter(({ shard }) => shard === journal.shard),
    );
  });
  return {
    resources: all.length,
    missing: all.filter(({ journal, reserved }) => reserved < journal),
    surplus: all.filter(({ journal, reserved }) => reserved > journal),
  };
}

/** Every resource for which the journal or the reservations have an amount. */
function imbalances(held: HeldByJournal, rows: readonly Row[]): Imbalance[] {
  const promised = held.amounts();
  const reserved = new Map(rows.map(({ name, amount }) => [name, amount]));
  return [...new Set([...promised.keys(), ...reserved.keys()])].map((name) => {
    const [account = '', ...resource] = name.split(' ');
    return {
      shard: held.shard,
      account,
      resource: resource.join(' ').trim(),
      journal: promised.get(name) ?? 0,
      reserved: reserved.get(name) ?? 0,
    };
  });
}
