import type { PlacedEvent } from './raw-events.js';

/** Up to where a shard's owner was known to know its journal, and since when: it has acknowledged what stands there. */
export class Acknowledged {
  private readonly steps: { readonly at: number; readonly sequence: number }[][] = [];

  /** In the order of time. */
  note({ shard, sequence }: Pick<PlacedEvent, 'shard' | 'sequence'>, at: number): void {
    const steps = (this.steps[shard] ??= []);
    if (sequence > (steps.at(-1)?.sequence ?? 0)) steps.push({ at, sequence });
  }

  upTo(shard: number, at: number): number {
    return this.steps[shard]?.findLast((step) => step.at <= at)?.sequence ?? 0;
  }
}
