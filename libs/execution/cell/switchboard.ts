import { NANOS_PER_MILLI, type Instant } from '#libs/base/instant.js';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { VenueHealth } from '../protocol/cell-protocol.js';
import type { TradingStatus } from '../protocol/cell-replies.js';
import type { Holdings } from '../rules/holdings.js';
import { lets, modeFor, scopeOf, type ModeInForce, type Switch, type Switched } from '../rules/modes.js';
import { printTime } from '../rules/record.js';
import type { VenueId } from '../rules/venues.js';

/** Reads the operators' switches. */
export interface SwitchSource {
  read(): Promise<readonly Switch[]>;
}

export interface SwitchboardPorts {
  readonly clock: Clock;
  readonly switches: SwitchSource;
  /** Called after a change, so that waiting orders and tasks are checked again. */
  readonly onChange: () => void;
  readonly onFault: (error: unknown) => void;
}

type ShownBreaker = VenueHealth['breakers'][number];

const POLL_MILLIS = 250;
/** A trial order without a result after this time counts as lost, and another one may be sent. */
const PROBE_NANOS = 15_000n * NANOS_PER_MILLI;
/** Switches that were read longer ago than this may be outdated, so no new order is accepted. */
const HOLDS_NANOS = 10_000n * NANOS_PER_MILLI;

export type SwitchedOff =
  | { readonly code: 'EXCHANGE_TRADING_HALTED'; readonly mode: ModeInForce }
  | { readonly code: 'EXCHANGE_CIRCUIT_OPEN'; readonly until?: Instant }
  | { readonly code: 'CELL_UNAVAILABLE' };

/** Decides what may be sent to venues, from operators' switches, the venues' own status, and the breakers. */
export class Switchboard {
  private switches: readonly Switch[] = [];
  private written = '';
  private readAt: bigint | undefined;
  private health: VenueHealth = { breakers: [], venues: [] };
  /** When a trial order was let through a half-open breaker, by breaker. */
  private readonly probes = new Map<string, bigint>();
  private cancel: Cancel | undefined;

  constructor(private readonly ports: SwitchboardPorts) {}

  async start(): Promise<void> {
    await this.read();
    this.cancel = repeat(this.ports.clock, POLL_MILLIS, () => this.read());
  }

  stop(): void {
    this.cancel?.();
  }

  /** If the read fails, the last known switches stay. */
  async read(): Promise<void> {
    try {
      const startedAt = this.ports.clock.monotonicNanos();
      const switches = await this.ports.switches.read();
      this.readAt = startedAt;
      const written = JSON.stringify(switches);
      if (written === this.written) return;
      this.written = written;
      this.switches = switches;
      this.ports.onChange();
    } catch (error) {
      this.ports.onFault(error);
    }
  }

  told(health: VenueHealth): void {
    const isChange = JSON.stringify(health.venues) !== JSON.stringify(this.health.venues);
    this.health = health;
    const waiting = new Set(health.breakers.filter(({ state }) => state === 'half_open').map(nameOf));
    for (const name of this.probes.keys()) if (!waiting.has(name)) this.probes.delete(name);
    if (isChange) this.ports.onChange();
  }

  /** Records that an order or amend was let through. If the breaker is half-open, this is its trial order. */
  letThrough(order: Switched): void {
    if (this.breakerOf(order)?.state === 'half_open')
      this.probes.set(nameOf(order), this.ports.clock.monotonicNanos());
  }

  /** Why an order or amend must not be sent now. */
  refusalOf(order: Switched, holdings: Holdings): SwitchedOff | undefined {
    if (!this.isKnown) return { code: 'CELL_UNAVAILABLE' };
    const mode = this.modeOf(order, holdings);
    if (!lets(mode.mode, order.side)) return { code: 'EXCHANGE_TRADING_HALTED', mode };
    const breaker = this.breakerOf(order);
    if (breaker === undefined || (breaker.state === 'half_open' && !this.isProbed(order))) return undefined;
    const { until } = breaker;
    return { code: 'EXCHANGE_CIRCUIT_OPEN', ...(until === undefined ? {} : { until }) };
  }

  private breakerOf(order: Switched): ShownBreaker | undefined {
    const name = nameOf(order);
    return this.health.breakers.find((breaker) => nameOf(breaker) === name);
  }

  private isProbed(order: Switched): boolean {
    const since = this.probes.get(nameOf(order));
    return since !== undefined && this.ports.clock.monotonicNanos() - since < PROBE_NANOS;
  }

  /** Whether the switches forbid the order. Breakers do not count, since they never end an accepted order. */
  isSwitchedOff(order: Switched, holdings: Holdings): boolean {
    return !lets(this.modeOf(order, holdings).mode, order.side);
  }

  isHalted(order: Switched, holdings: Holdings): boolean {
    return this.modeOf(order, holdings).mode === 'halted';
  }

  statusOf(venue: VenueId, user_id: string, holdings: Holdings): TradingStatus {
    const all = this.all(holdings, user_id);
    const general = all.filter((one) => scopeOf(one) !== 'order');
    const { mode, scope, since, resumes_at } = modeFor(general, { venue, user_id });
    const byOrderKind = all.filter((one) => scopeOf(one) === 'order' && (one.venue ?? venue) === venue);
    return {
      ...{ mode, scope: scope === 'order' ? 'venue' : scope, since: printTime(since) },
      ...resuming(resumes_at),
      switches: byOrderKind.map((one) => ({
        ...(one.side === undefined ? {} : { side: one.side }),
        ...(one.kind === undefined ? {} : { kind: one.kind }),
        ...(one.time_in_force === undefined ? {} : { tif: one.time_in_force }),
        ...{ mode: one.mode, since: printTime(one.since), ...resuming(one.resumes_at) },
      })),
      breakers: this.health.breakers
        .filter((breaker) => breaker.venue === venue)
        .map(({ side, kind, time_in_force: tif, state, until }) => ({
          ...{ side, kind, tif, state },
          ...(until === undefined ? {} : { until: printTime(until) }),
        })),
    };
  }

  private get isKnown(): boolean {
    return this.readAt !== undefined && this.ports.clock.monotonicNanos() - this.readAt < HOLDS_NANOS;
  }

  private modeOf(order: Switched, holdings: Holdings): ModeInForce {
    return modeFor(this.all(holdings, order.user_id), order);
  }

  /** All switches for a user. A difference between our records and the venue's makes the user `reduce_only` there. */
  private all({ differences }: Holdings, user_id: string): Switch[] {
    const forDifferences = [...differences.values()].map(({ venue, since }): Switch => {
      return { venue, user_id, mode: 'reduce_only', since };
    });
    const venues = this.health.venues.map(({ venue, mode, since }): Switch => ({ venue, mode, since }));
    return [...this.switches, ...venues, ...forDifferences];
  }
}

function nameOf({ venue, side, kind, time_in_force }: Omit<Switched, 'user_id'>): string {
  return `${venue}/${side}/${kind}/${time_in_force}`;
}

function resuming(resumes_at: Instant | undefined): { resumes_at?: string } {
  return resumes_at === undefined ? {} : { resumes_at: printTime(resumes_at) };
}
