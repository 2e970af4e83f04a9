import type { Pool } from 'pg';
import type { AuctionEvent } from '../rules/events.js';
import { evolve } from '../rules/evolve/evolve.js';
import { holdsOf } from '../rules/holds-of.js';
import type { AuctionState } from '../rules/state.js';
import { decodeEvent, isOfAuction } from '../rules/event-versions.js';
import type { AwardToSettle } from '../settlement/settlement.js';
import { awardToSettle, unended } from '../shard/pending-awards.js';
import type { JournalEntry } from '#libs/journal/journal.js';

/** What is set aside of one resource of one account for one shard. */
export interface Imbalance {
  readonly shard: number;
  readonly account: string;
  readonly resource: string;
  readonly journal: number;
  readonly reserved: number;
}

export interface ReservationCheck {
  readonly resources: number;
  /** Less is set aside than the journal promises: somebody else could be promised the same. */
  readonly missing: readonly Imbalance[];
  /** More is set aside: what a killed owner has left behind. The next one sets it free. */
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

/** Live auctions of a shard as its journal makes them. */
export class HeldByJournal {
  private readonly live = new Map<string, AuctionState>();

  /** `onEvent` is told of every event of an auction, with the auction as it is after it. */
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

  /** Awards of which the journal does not tell the end. */
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

/** Only of shards that nobody writes: an owner sets aside before it journals, and free after. */
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

/** Every resource of which either side holds something. */
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
