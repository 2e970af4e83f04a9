import { Acknowledged } from './acknowledged.js';
import type { PlacedEvent } from './raw-events.js';

/** Up to where the journal of a shard must be known to whoever answers a read that was asked for at that time. */
export interface Freshness {
  floor(shard: number, askedAt: number): number;
}

/** For so long may the former owner of a shard go on answering from its memory, and a little more for the answer's way (decision 6). */
export const LAST_PROOF_MILLIS = 5_500;

/**
 * What one owner has acknowledged it knows, and so does every later one. An earlier one that goes on and has not heard yet that it was
 * replaced knows what had been acknowledged by then. One that has ended answers nothing any more, and one that stood still when it was
 * replaced nothing before it has asked the journal.
 */
export class OwnersKnowledge implements Freshness {
  private readonly acknowledged = new Acknowledged();
  private readonly takeOvers: number[][] = [];

  constructor(
    private readonly nowMillis: () => number,
    /** Whether an earlier owner of the shard went on at that time. */
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
