import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { RateWindow } from '#libs/edge/dialect/dialect-rules.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import { networkOf } from '#libs/platform/network-of.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { DataCaller } from '../callers.js';
import type { CallCounter } from '../checks.js';
import { CallWindow } from './call-window.js';
import type { LimitRules } from './limit-rules.js';

const SECOND = 1_000;
/** Above this number, the oldest windows are dropped. Each holds at most a thousand entries. */
const MOST_WINDOWS = 100_000;

/** Calls that this process has counted and not yet shared with the other replicas. */
export interface FreshCalls {
  /** The key of the window: limit and caller. */
  readonly key: string;
  /** Milliseconds of this process's monotonic clock. */
  readonly at: number;
  calls: number;
}

/**
 * Counts calls in memory, so that no call waits for the database, and shares counts with the other replicas a few times a second. A
 * limit holds over all replicas within a second; while the database is down, each replica enforces it alone.
 */
export class CallLimits implements CallCounter {
  private readonly windows = new Map<string, CallWindow>();
  private fresh = new Map<string, FreshCalls>();

  constructor(
    private readonly rules: LimitRules,
    private readonly clock: Clock,
    private readonly onCall: () => void = () => undefined,
  ) {}

  count(
    spec: Pick<EndpointSpec, 'method' | 'path' | 'role' | 'access'>,
    caller: DataCaller | undefined,
    address: string,
  ): RateWindow | undefined {
    const limit = this.rules.of(spec, caller !== undefined);
    if (limit === undefined) return undefined;
    this.onCall();
    const key = `${limit.name} ${windowOwner(caller, address)}`;
    const window = this.windowOf(key);
    const now = this.now();
    const before = window.callsAt(now);
    if (before >= limit.calls) {
      const wait = Math.ceil((window.admitsAt(limit.calls, now) - now) / SECOND);
      return { ...this.stateOf(window, limit.calls, now), remaining: 0, retryAfter: Math.max(wait, 1) };
    }
    window.add(now, 1);
    this.note(key, now);
    return { ...this.stateOf(window, limit.calls, now), remaining: limit.calls - before - 1 };
  }

  /** Returns and clears what was counted since the last call. */
  takeFresh(): readonly FreshCalls[] {
    const taken = [...this.fresh.values()];
    this.fresh = new Map();
    return taken;
  }

  /** Call it when they could not be shared. */
  putBack(calls: readonly FreshCalls[]): void {
    for (const { key, at, calls: count } of calls) {
      const existing = this.fresh.get(key);
      if (existing === undefined) this.fresh.set(key, { key, at, calls: count });
      else existing.calls += count;
    }
  }

  /** Adds calls that another replica counted `age` milliseconds ago. */
  learn(key: string, age: number, calls: number): void {
    this.windowOf(key).add(this.now() - age, calls);
  }

  /** Milliseconds of the monotonic clock. */
  now(): number {
    return Number(this.clock.monotonicNanos() / NANOS_PER_MILLI);
  }

  forgetPast(): void {
    const now = this.now();
    for (const [key, window] of this.windows) if (window.callsAt(now) === 0) this.windows.delete(key);
  }

  private note(key: string, at: number): void {
    const existing = this.fresh.get(key);
    if (existing === undefined) this.fresh.set(key, { key, at, calls: 1 });
    else existing.calls += 1;
  }

  private stateOf(window: CallWindow, limit: number, now: number): RateWindow {
    const epoch = Number(this.clock.epochNanos() / NANOS_PER_MILLI);
    const resetsAt = Math.ceil((epoch + (window.freesAt ?? now) - now) / SECOND);
    return { limit, remaining: 0, resetsAt };
  }

  private windowOf(key: string): CallWindow {
    const existing = this.windows.get(key);
    if (existing !== undefined) return existing;
    const [first] = this.windows.keys();
    if (first !== undefined && this.windows.size >= MOST_WINDOWS) this.windows.delete(first);
    const made = new CallWindow();
    this.windows.set(key, made);
    return made;
  }
}

/** Without a caller, and for the admin secret, which belongs to no user, calls count for the network address. */
function windowOwner(caller: DataCaller | undefined, address: string): string {
  return caller === undefined || caller.account_id === '' ? networkOf(address) : caller.account_id;
}
