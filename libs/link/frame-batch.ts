/** A frame that grows past this size is sent at once, so that a large read does not delay small commands. */
export const FRAME_TARGET_CHARS = 256 * 1024;

/** Collects entries of one turn of the event loop in one frame. A frame for each entry would slow down every quote. */
export class FrameBatch {
  private waiting: string[] = [];
  private chars = 0;
  private flushing = false;

  constructor(
    private readonly send: (frame: string) => void,
    /** Supplies a last entry. Called only when the frame is sent. */
    private readonly last: () => string | undefined = () => undefined,
  ) {}

  add(entry: string): void {
    this.waiting.push(entry);
    this.chars += entry.length;
    if (this.chars >= FRAME_TARGET_CHARS) this.flush();
    else this.flushSoon();
  }

  /** Sends the frame at the end of this turn. If it has no entries, the last entry is sent alone. */
  flushSoon(): void {
    if (this.flushing) return;
    this.flushing = true;
    setImmediate(() => {
      this.flushing = false;
      this.flush();
    });
  }

  clear(): void {
    this.waiting = [];
    this.chars = 0;
  }

  private flush(): void {
    const last = this.last();
    if (last !== undefined) this.waiting.push(last);
    if (this.waiting.length === 0) return;
    const frame = `[${this.waiting.join(',')}]`;
    this.clear();
    this.send(frame);
  }
}
