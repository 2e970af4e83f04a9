/** Milliseconds. */
export const WINDOW = 60_000;
/** More places in time than this are never kept of one window. */
const MOST_ENTRIES = 1_000;

interface Counted {
  /** Of the first of these calls. */
  readonly from: number;
  /** When all of them count: the moment of the last. */
  at: number;
  calls: number;
}

/** The calls of the last minute, each at its moment. Beyond a thousand moments neighbours are counted at the later one. */
export class CallWindow {
  private readonly entries: Counted[] = [];
  private total = 0;

  /** Also from other processes, and so perhaps earlier than the newest. */
  add(at: number, calls: number): void {
    this.total += calls;
    let place = this.entries.length;
    while (place > 0 && (this.entries[place - 1]?.at ?? at) > at) place -= 1;
    const before = this.entries[place - 1];
    const isNear = before !== undefined && at - before.from < (this.isCrowded ? WINDOW / MOST_ENTRIES : 1);
    if (isNear) {
      before.at = at;
      before.calls += calls;
    } else this.entries.splice(place, 0, { from: at, at, calls });
  }

  /** After what has left the window is forgotten. */
  callsAt(now: number): number {
    let gone = 0;
    for (const { at, calls } of this.entries) {
      if (at > now - WINDOW) break;
      gone += 1;
      this.total -= calls;
    }
    if (gone > 0) this.entries.splice(0, gone);
    return this.total;
  }

  /** When the oldest call leaves; undefined without any. */
  get freesAt(): number | undefined {
    const [oldest] = this.entries;
    return oldest === undefined ? undefined : oldest.at + WINDOW;
  }

  /** When fewer than `most` are left. */
  admitsAt(most: number, now: number): number {
    let left = this.total;
    if (left < most) return now;
    for (const { at, calls } of this.entries) {
      left -= calls;
      if (left < most) return at + WINDOW;
    }
    return now;
  }

  private get isCrowded(): boolean {
    return this.entries.length >= MOST_ENTRIES;
  }
}
