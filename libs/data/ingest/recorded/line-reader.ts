import type { FileHandle } from 'node:fs/promises';
import { LONGEST_LINE } from '../read-event.js';

/** Consecutive complete lines without their newlines; undefined stands for a line that is too long. */
export interface LineSlice {
  readonly lines: readonly (Buffer | undefined)[];
  /** The byte offset after the newline of the last line. */
  readonly end: number;
}

const CHUNK_BYTES = 262_144;
const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

/** Reads a growing file. A line counts once its newline is written. Lines that are too long are skipped. */
export class LineReader {
  private begun = NOTHING;
  private isTooLong = false;

  /** `position` must be at the start of a line. */
  constructor(private position: number) {}

  /** The offset of the next unread byte. */
  get offset(): number {
    return this.position;
  }

  /** Reads up to this byte, or to the end of the file. */
  async *read(handle: FileHandle, to: number): AsyncGenerator<LineSlice> {
    while (this.position < to) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, to - this.position));
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, this.position);
      if (bytesRead === 0) return;
      const slice = this.cut(chunk.subarray(0, bytesRead));
      this.position += bytesRead;
      if (slice.lines.length > 0) yield slice;
    }
  }

  private cut(chunk: Buffer): LineSlice {
    const lines: (Buffer | undefined)[] = [];
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      lines.push(this.whole(chunk.subarray(from, to)));
      from = to + 1;
    }
    const end = this.position + from;
    this.keep(chunk.subarray(from));
    return { lines, end };
  }

  private whole(last: Buffer): Buffer | undefined {
    const { begun, isTooLong } = this;
    this.begun = NOTHING;
    this.isTooLong = false;
    if (isTooLong || begun.length + last.length > LONGEST_LINE) return undefined;
    return begun.length === 0 ? last : Buffer.concat([begun, last]);
  }

  private keep(part: Buffer): void {
    if (this.isTooLong || part.length === 0) return;
    this.isTooLong = this.begun.length + part.length > LONGEST_LINE;
    this.begun = this.isTooLong ? NOTHING : Buffer.concat([this.begun, part]);
  }
}
