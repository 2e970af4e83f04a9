import { instantFromNanos, NANOS_PER_MILLI, type Instant } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { BreakerKey, VenueHealth } from '../protocol/cell-protocol.js';
import {
  afterCall,
  breakerState,
  CLOSED_BREAKER,
  halfOpenAt,
  type Breaker,
  type BreakerState,
} from '../rules/breakers.js';
import type { OrderTerms } from '../rules/order.js';
import type { VenueId } from '../rules/venues.js';

type ShownBreaker = VenueHealth['breakers'][number];

interface BreakerEntry {
  readonly key: BreakerKey;
  readonly breaker: Breaker;
}

/**
 * The breakers of all kinds of orders at all venues. They are kept in memory, so a new process starts with all
 * closed.
 */
export class BreakerBoard {
  private readonly kept = new Map<string, BreakerEntry>();
  /** For each kind of order, the probe that is under way. */
  private readonly probes = new Map<string, Promise<void>>();

  constructor(
    private readonly clock: Clock,
    private readonly onChange: () => void,
  ) {}

  /**
   * Makes the call of a submit or amend. While the breaker is half-open, one call goes as the probe and the others
   * wait for its end. Undefined if the probe failed and the call was not made.
   */
  async one<T>(terms: OrderTerms, call: () => Promise<T>): Promise<T | undefined> {
    const name = nameOf(terms);
    for (;;) {
      if (this.stateOf(name) !== 'half_open') return call();
      const probe = this.probes.get(name);
      if (probe === undefined) return this.probed(name, call);
      await probe;
      if (this.stateOf(name) === 'open') return undefined;
    }
  }

  private async probed<T>(name: string, call: () => Promise<T>): Promise<T> {
    const called = call();
    this.probes.set(name, called.then(nothing, nothing));
    try {
      return await called;
    } finally {
      this.probes.delete(name);
    }
  }

  /** Counts a submit or amend, and whether the venue failed. A refusal by the venue is no failure. */
  count({ venue, side, kind, time_in_force }: OrderTerms, failed: boolean): void {
    const key = { venue, side, kind, time_in_force };
    const name = nameOf(key);
    const at = this.now();
    const before = this.kept.get(name)?.breaker ?? CLOSED_BREAKER;
    const breaker = afterCall(before, { at, failed });
    this.kept.set(name, { key, breaker });
    if (breakerState(before, at) !== breakerState(breaker, at)) this.onChange();
  }

  /** Closes the matching breakers. */
  reset(select: Partial<Readonly<Record<keyof BreakerKey, string>>> & { readonly venue: VenueId }): void {
    const { venue, side, kind, time_in_force } = select;
    for (const [name, { key }] of this.kept) {
      const isMeant =
        key.venue === venue &&
        (side === undefined || key.side === side) &&
        (kind === undefined || key.kind === kind) &&
        (time_in_force === undefined || key.time_in_force === time_in_force);
      if (isMeant) this.kept.delete(name);
    }
    this.onChange();
  }

  /** All breakers that are not closed. */
  shown(): readonly ShownBreaker[] {
    const now = this.now();
    return [...this.kept.values()].flatMap(({ key, breaker }): ShownBreaker[] => {
      const state = breakerState(breaker, now);
      if (state === 'closed') return [];
      const until = halfOpenAt(breaker);
      return [
        {
          ...key,
          state,
          ...(state === 'open' && until !== undefined ? { until: this.at(until - now) } : {}),
        },
      ];
    });
  }

  private stateOf(name: string): BreakerState {
    return breakerState(this.kept.get(name)?.breaker ?? CLOSED_BREAKER, this.now());
  }

  private now(): number {
    return Number(this.clock.monotonicNanos() / NANOS_PER_MILLI);
  }

  private at(inMillis: number): Instant {
    return instantFromNanos(this.clock.epochNanos() + BigInt(inMillis) * NANOS_PER_MILLI);
  }
}

function nothing(): void {
  return undefined;
}

function nameOf({ venue, side, kind, time_in_force }: BreakerKey): string {
  return `${venue}/${side}/${kind}/${time_in_force}`;
}
