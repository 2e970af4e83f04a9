import type { Instant } from '#libs/base/instant.js';

export interface Appointment {
  readonly at: Instant;
  readonly auctionId: string;
}

/** What falls due when: a binary heap, earliest first. Appointments are never taken back; whoever keeps one looks whether it still stands. */
export class Agenda {
  private readonly heap: Appointment[] = [];

  get size(): number {
    return this.heap.length;
  }

  next(): Instant | undefined {
    return this.heap[0]?.at;
  }

  add(appointment: Appointment): void {
    let place = this.heap.length;
    this.heap.push(appointment);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.earlier(place, parent)) return;
      this.swap(place, parent);
      place = parent;
    }
  }

  /** Takes out all that is due at `now`, earliest first, but no more than `limit`. */
  takeDue(now: Instant, limit: number): Appointment[] {
    const due: Appointment[] = [];
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
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      let earliest = place;
      if (left < this.heap.length && this.earlier(left, earliest)) earliest = left;
      if (left + 1 < this.heap.length && this.earlier(left + 1, earliest)) earliest = left + 1;
      if (earliest === place) return;
      this.swap(place, earliest);
      place = earliest;
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
