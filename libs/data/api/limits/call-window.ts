/** Milliseconds. */
export const WINDOW = 60_000;
/** The most entries that one window holds. */
const MOST_ENTRIES = 1_000;

interface Counted {
  /** The time of the first of these calls. */
  readonly from: number;
  /** The time of the last of these calls. All of them count from then. */
  at: number;
  calls: number;
}

/**
 * The calls of the last minute with their times. When there are over a thousand entries, calls close together share the later time.
 */
export class CallWindow {
  private readonly entries: Counted[] = [];
  private total = 0;

  /** Calls from other replicas may be older than the newest entry. */
  add(at: number, calls: number): void {
    this.total += calls;
    let position = this.entries.length;
    while (position > 0 && (this.entries[position - 1]?.at ?? at) > at) position -= 1;
    const before = this.entries[position - 1];
    const isNear = before !== undefined && at - before.from < (this.isCrowded ? WINDOW / MOST_ENTRIES : 1);
    if (isNear) {
      before.at = at;
      before.calls += calls;
    } else this.entries.splice(position, 0, { from: at, at, calls });
  }

  /** Drops entries that have left the window, and returns the number of calls that remain. */
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

  /** When the oldest call leaves the window; undefined for an empty window. */
  get freesAt(): number | undefined {
    const [oldest] = this.entries;
    return oldest === undefined ? undefined : oldest.at + WINDOW;
  }

  /** When fewer than `most` calls will be in the window. */
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
