import type { Clock } from '#libs/platform/time/clock.js';

export const CALL_KINDS = ['submit', 'cancel', 'amend', 'read'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** What happens to one call. `drop_reply` and `unreadable` strike after the venue has executed it. */
export const CALL_FAULTS = [
  'delay',
  'drop_request',
  'drop_reply',
  'unreadable',
  'reject',
  'error',
  'rate_limit',
] as const;
export const FAULT_NAMES = [...CALL_FAULTS, 'disconnect', 'halt', 'duplicate_fill'] as const;
export type CallFaultName = (typeof CALL_FAULTS)[number];
export type VenueFaultName = (typeof FAULT_NAMES)[number];

export interface FaultOrder {
  readonly fault: VenueFaultName;
  /** All four kinds if left out. */
  readonly calls?: readonly CallKind[];
  readonly count?: number;
  readonly ms?: number;
}

export interface CallFault {
  readonly fault: CallFaultName;
  readonly ms: number;
}

interface ArmedFault extends CallFault {
  readonly calls: readonly CallKind[];
  left: number;
}

const DEFAULT_MS = 1_000;

/** The armed faults of a venue. They are not stored, so a restart lifts them. */
export class Faults {
  private armed: ArmedFault[] = [];
  private duplicates = 0;
  private haltedUntil = 0n;
  private disconnected: (millis: number) => Promise<void> = () => Promise.resolve();

  constructor(private readonly clock: Pick<Clock, 'monotonicNanos'>) {}

  arm({ fault, calls = CALL_KINDS, count = 1, ms = DEFAULT_MS }: FaultOrder): void {
    if (fault === 'disconnect') void this.disconnected(ms);
    else if (fault === 'halt') this.haltedUntil = this.clock.monotonicNanos() + BigInt(ms) * 1_000_000n;
    else if (fault === 'duplicate_fill') this.duplicates += count;
    else this.armed.push({ fault, ms, calls, left: count });
  }

  /** Resolves once the venue can be reached again. */
  lift(): Promise<void> {
    this.armed = [];
    this.duplicates = 0;
    this.haltedUntil = 0n;
    return this.disconnected(0);
  }

  /** Uses up the fault of this call: the one armed first, if any. */
  take(kind: CallKind | undefined): CallFault | undefined {
    const next = kind === undefined ? undefined : this.armed.find(({ calls }) => calls.includes(kind));
    if (next === undefined) return undefined;
    next.left -= 1;
    if (next.left <= 0) this.armed.splice(this.armed.indexOf(next), 1);
    return next;
  }

  /** Uses up a duplicate: true if this fill is to be reported twice. */
  takeDuplicate(): boolean {
    if (this.duplicates === 0) return false;
    this.duplicates -= 1;
    return true;
  }

  get isHalted(): boolean {
    return this.clock.monotonicNanos() < this.haltedUntil;
  }

  /** Sets how the listener disconnects. It resolves once disconnected or, with 0 milliseconds, once connected again. */
  onDisconnect(disconnected: (millis: number) => Promise<void>): void {
    this.disconnected = disconnected;
  }
}
