import type { Instant } from '#libs/base/instant.js';

export interface DueTimer<Key> {
  readonly at: Instant;
  readonly key: Key;
}

/** Timers in a binary heap, earliest first. Timers are never cancelled: the caller checks whether a due one still applies. */
export class TimerHeap<Key> {
  private readonly heap: DueTimer<Key>[] = [];

  get size(): number {
    return this.heap.length;
  }

  next(): Instant | undefined {
    return this.heap[0]?.at;
  }

  add(timer: DueTimer<Key>): void {
    let index = this.heap.length;
    this.heap.push(timer);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.earlier(index, parent)) return;
      this.swap(index, parent);
      index = parent;
    }
  }

  /** Removes the timers that are due at `now`, earliest first, at most `limit`. */
  takeDue(now: Instant, limit: number): DueTimer<Key>[] {
    const due: DueTimer<Key>[] = [];
    while (due.length < limit) {
      const first = this.heap[0];
      if (first === undefined || first.at > now) break;
      due.push(first);
      this.removeFirst();
    }
    return due;
  }

  private removeFirst(): void {
    const last = this.heap.pop();
    if (last === undefined || this.heap.length === 0) return;
    this.heap[0] = last;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      let earliest = index;
      if (left < this.heap.length && this.earlier(left, earliest)) earliest = left;
      if (left + 1 < this.heap.length && this.earlier(left + 1, earliest)) earliest = left + 1;
      if (earliest === index) return;
      this.swap(index, earliest);
      index = earliest;
    }
  }

  private earlier(a: number, b: number): boolean {
    const left = this.heap[a];
    const right = this.heap[b];
    return left !== undefined && right !== undefined && left.at < right.at;
  }

  private swap(a: number, b: number): void {
    const left = this.heap[a];
    const right = this.heap[b];
    if (left === undefined || right === undefined) return;
    this.heap[a] = right;
    this.heap[b] = left;
  }
}
