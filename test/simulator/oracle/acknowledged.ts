import type { PlacedEvent } from './raw-events.js';

/** How far each shard's owner was known to have read its journal, and since when: it acknowledged that record. */
export class Acknowledged {
  private readonly steps: { readonly at: number; readonly sequence: number }[][] = [];

  /** Calls come in order of time. */
  note({ shard, sequence }: Pick<PlacedEvent, 'shard' | 'sequence'>, at: number): void {
    const steps = (this.steps[shard] ??= []);
    if (sequence > (steps.at(-1)?.sequence ?? 0)) steps.push({ at, sequence });
  }

  upTo(shard: number, at: number): number {
    return this.steps[shard]?.findLast((step) => step.at <= at)?.sequence ?? 0;
  }
}
