import { Acknowledged } from './acknowledged.js';
import type { PlacedEvent } from './raw-events.js';

/** The record of a shard's journal that a read sent at that time must include. */
export interface Freshness {
  floor(shard: number, askedAt: number): number;
}

/** How long a replaced owner may still answer from memory, plus the time for the answer to arrive (decision 6). */
export const LAST_PROOF_MILLIS = 5_500;

/**
 * An owner and its successors know what it has acknowledged. A replaced owner that goes on knows what was
 * acknowledged before it was replaced. An owner that ended answers nothing; one that was paused asks the
 * journal first.
 */
export class OwnersKnowledge implements Freshness {
  private readonly acknowledged = new Acknowledged();
  private readonly takeOvers: number[][] = [];

  constructor(
    private readonly nowMillis: () => number,
    /** Whether a replaced owner of the shard still ran at that time. */
    private readonly wentOn: (shard: number, atMillis: number) => boolean,
  ) {}

  acknowledge(placed: PlacedEvent): void {
    this.acknowledged.note(placed, this.nowMillis());
  }

  takenOver(shard: number): void {
    (this.takeOvers[shard] ??= []).push(this.nowMillis());
  }

  floor(shard: number, askedAt: number): number {
    const replaced = this.takeOvers[shard]?.find(
      (at) => at > askedAt - LAST_PROOF_MILLIS && this.wentOn(shard, at),
    );
    return this.acknowledged.upTo(shard, Math.min(askedAt, replaced ?? askedAt));
  }
}
