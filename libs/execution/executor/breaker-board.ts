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

type Shown = VenueHealth['breakers'][number];

interface Kept {
  readonly key: BreakerKey;
  readonly breaker: Breaker;
}

/** The breakers of all kinds of orders at all venues. They live as long as this process: a new one tries anew. */
export class BreakerBoard {
  private readonly kept = new Map<string, Kept>();
  /** The call that tries a venue for all others of its kind, until it has ended. */
  private readonly probes = new Map<string, Promise<void>>();

  constructor(
    private readonly clock: Clock,
    private readonly onChange: () => void,
  ) {}

  /**
   * Makes a call of a submit or an amend. While a breaker waits for one that tries, however many cells have let one through, one of them
   * goes; others wait for its end. Undefined: it has failed, and the call was not made.
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

  /** Of a submit or an amend: whether the venue has failed. What a venue refuses is no failure of it. */
  count({ venue, side, kind, time_in_force }: OrderTerms, failed: boolean): void {
    const key = { venue, side, kind, time_in_force };
    const name = nameOf(key);
    const at = this.now();
    const before = this.kept.get(name)?.breaker ?? CLOSED_BREAKER;
    const breaker = afterCall(before, { at, failed });
    this.kept.set(name, { key, breaker });
    if (breakerState(before, at) !== breakerState(breaker, at)) this.onChange();
  }

  /** Closes those that match. */
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

  /** Those that are not closed. */
  shown(): readonly Shown[] {
    const now = this.now();
    return [...this.kept.values()].flatMap(({ key, breaker }): Shown[] => {
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
