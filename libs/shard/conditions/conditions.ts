import type { CapacityWatch } from './capacity-watch.js';
import type { ClockWatch } from './clock-watch.js';
import type { ProjectionWatch } from './projection-watch.js';

/** Why the owner should take no new work; the gravest reason if there are several. */
export type Impediment = 'DRAINING' | 'CLOCK' | 'JOURNAL_FULL' | 'JOURNAL_ROOM_UNKNOWN' | 'PROJECTION_LAG';

/** The conditions under which this owner takes new work. */
export class Conditions {
  private drained = false;
  private left = false;

  constructor(
    readonly clock: ClockWatch,
    readonly projection: ProjectionWatch,
    readonly capacity: CapacityWatch,
  ) {}

  get draining(): boolean {
    return this.drained || this.left;
  }

  /** The process is stopping, which cannot be undone. */
  get leaving(): boolean {
    return this.left;
  }

  leave(): void {
    this.left = true;
  }

  /** An operator drains the shard until it is resumed. False where that changes nothing. */
  drain(): boolean {
    const isChange = !this.drained;
    this.drained = true;
    return isChange;
  }

  resume(): boolean {
    const isChange = this.drained;
    this.drained = false;
    return isChange;
  }

  impediment(): Impediment | undefined {
    if (this.draining) return 'DRAINING';
    if (!this.clock.isSound()) return 'CLOCK';
    if (this.capacity.isKnownFull()) return 'JOURNAL_FULL';
    if (!this.capacity.isSound()) return 'JOURNAL_ROOM_UNKNOWN';
    return this.projection.isBehind() ? 'PROJECTION_LAG' : undefined;
  }

  /** Whether the owner may promise nothing, not even in reply to a preflight. */
  isUnsafe(): boolean {
    return this.draining || !this.clock.isSound() || !this.capacity.isSound();
  }

  async start(): Promise<void> {
    await Promise.all([this.clock.start(), this.projection.start(), this.capacity.start()]);
  }

  stop(): void {
    this.clock.stop();
    this.projection.stop();
    this.capacity.stop();
  }
}
