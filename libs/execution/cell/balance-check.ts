import type { Instant } from '#libs/base/instant.js';
import type { ExecutorRequest } from '../protocol/cell-protocol.js';
import {
  afterEvents,
  decideMovements,
  decideOpening,
  gapsOf,
  type BalanceGap,
} from '../rules/decide/balances.js';
import type { HoldingEvent } from '../rules/events.js';
import type { VenueId } from '../rules/venues.js';
import type { UserEntry } from './user-entry.js';

type Balances = Extract<ExecutorRequest, { op: 'balances' }>;

/** The results of earlier passes over one account. */
interface Passes {
  /** The gaps of the last pass, as text. */
  suspected: ReadonlySet<string>;
  /** Consecutive passes without a gap, by asset. */
  readonly clean: Map<string, number>;
}

export interface Checked {
  readonly events: readonly HoldingEvent[];
  /** A new gap was found. A second pass must show whether it stays. */
  readonly isSuspicious: boolean;
}

const CLEAN_PASSES = 2;

/** Compares venues' balances with our records. A gap in one pass may be a trade on its way. In two passes it is a difference. */
export class BalanceCheck {
  private readonly passes = new Map<string, Passes>();

  decide(entry: UserEntry, balances: Balances, at: Instant): Checked {
    const { venue, as_of } = balances;
    const { holdings } = entry.head;
    const moved = decideMovements(balances, (reference) => entry.booked.has(reference), at);
    const after = afterEvents(holdings, moved);
    if (!entry.opened.has(venue))
      return { events: [...moved, ...decideOpening(after, balances, at)], isSuspicious: false };
    const isOutdated = (entry.touched.get(venue) ?? 0) > as_of || entry.parked.length > 0;
    if (isOutdated) return { events: moved, isSuspicious: false };
    const gaps = gapsOf(after, balances);
    const found = this.newDifferences(entry, venue, gaps, at);
    const ended = this.endedDifferences(entry, venue, gaps, at);
    return { events: [...moved, ...found.events, ...ended], isSuspicious: found.isSuspicious };
  }

  private newDifferences(
    entry: UserEntry,
    venue: VenueId,
    gaps: readonly BalanceGap[],
    at: Instant,
  ): Checked {
    const passes = this.passesOf(entry, venue);
    const { user_id, head } = entry;
    const before = passes.suspected;
    passes.suspected = new Set(gaps.map(textOf));
    let isSuspicious = false;
    const events = gaps.flatMap((gap): HoldingEvent[] => {
      const known = head.holdings.differences.get(`${venue}/${gap.asset}`);
      if (known?.recorded === gap.recorded && known.observed === gap.observed) return [];
      if (!before.has(textOf(gap))) {
        isSuspicious = true;
        return [];
      }
      return [{ type: 'DIFFERENCE_FOUND', at, user_id, venue, ...gap }];
    });
    return { events, isSuspicious };
  }

  private endedDifferences(
    entry: UserEntry,
    venue: VenueId,
    gaps: readonly BalanceGap[],
    at: Instant,
  ): HoldingEvent[] {
    const { clean } = this.passesOf(entry, venue);
    const { user_id, head } = entry;
    return [...head.holdings.differences.values()].flatMap((difference): HoldingEvent[] => {
      const { asset } = difference;
      if (difference.venue !== venue) return [];
      const times = gaps.some((gap) => gap.asset === asset) ? 0 : (clean.get(asset) ?? 0) + 1;
      clean.set(asset, times);
      return times < CLEAN_PASSES ? [] : [{ type: 'DIFFERENCE_ENDED', at, user_id, venue, asset }];
    });
  }

  private passesOf({ user_id }: UserEntry, venue: VenueId): Passes {
    const name = `${user_id}/${venue}`;
    const passes = this.passes.get(name) ?? { suspected: new Set(), clean: new Map() };
    this.passes.set(name, passes);
    return passes;
  }
}

function textOf({ asset, recorded, observed }: BalanceGap): string {
  return `${asset} ${recorded} ${observed}`;
}
