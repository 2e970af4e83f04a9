import { fault, type LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRequest } from '#libs/auction/protocol/protocol.js';
import type { CapacityWatch } from './capacity-watch.js';
import type { ClockWatch } from './clock-watch.js';
import type { ProjectionWatch } from './projection-watch.js';

const OWNER_UNAVAILABLE = fault(503, 'auction_owner_unavailable');
const CLOCK = fault(503, 'clock_unhealthy');
const BACKLOG = fault(503, 'projection_backlog');
const CAPACITY = fault(503, 'journal_capacity_unhealthy');

/** What keeps this owner from taking new work, whoever asks. */
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

  /** The process is stopping, which nothing undoes. */
  get leaving(): boolean {
    return this.left;
  }

  leave(): void {
    this.left = true;
  }

  /** By an operator, until it is resumed. False where that changes nothing. */
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

  /** Withdrawing and cancelling always work. */
  pause(op: OwnerRequest['op']): LinkReply | undefined {
    if (op === 'create') return this.createPause();
    if ((op === 'submit' || op === 'revise') && !this.clock.isSound()) return CLOCK;
    return undefined;
  }

  /** Whether authority cannot be verified safely: the originator's preflight then answers 500. */
  isUnsafe(): boolean {
    return this.draining || !this.clock.isSound() || !this.capacity.isSound();
  }

  private createPause(): LinkReply | undefined {
    if (this.draining) return OWNER_UNAVAILABLE;
    if (!this.clock.isSound()) return CLOCK;
    if (this.capacity.isKnownFull()) return CAPACITY;
    if (!this.capacity.isSound()) return OWNER_UNAVAILABLE;
    return this.projection.isBehind() ? BACKLOG : undefined;
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
