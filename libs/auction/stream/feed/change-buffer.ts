import type { Change } from './change.js';

/** The latest changes of a shard, at most `size`, for clients that were away for a moment. */
export class ChangeBuffer {
  private changes: Change[] = [];
  /** Everything before this index is forgotten and will be cut off. */
  private start = 0;
  private completeFrom = 0;

  constructor(private readonly size: number) {}

  /** Starts empty after `position`. */
  beginBehind(position: number): void {
    this.completeFrom = position;
  }

  /** Returns the change that was dropped for the new one. */
  push(change: Change): Change | undefined {
    this.changes.push(change);
    if (this.changes.length - this.start <= this.size) return undefined;
    const oldest = this.changes[this.start];
    this.start += 1;
    if (oldest !== undefined) this.completeFrom = oldest.placed.position;
    if (this.start >= this.size) {
      this.changes = this.changes.slice(this.start);
      this.start = 0;
    }
    return oldest;
  }

  /** Every change after `position`. Complete only if `reaches(position)`. */
  *since(position: number): Generator<Change> {
    for (let index = this.firstAfter(position); index < this.changes.length; index += 1) {
      const change = this.changes[index];
      if (change !== undefined) yield change;
    }
  }

  reaches(position: number): boolean {
    return position >= this.completeFrom;
  }

  /** Binary search: positions grow. */
  private firstAfter(position: number): number {
    let low = this.start;
    let high = this.changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.changes[middle]?.placed.position ?? Infinity) > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
