/** The longest line that client and server accept. */
export const MOST_LINE_BYTES = 64 * 1024;

const NEWLINE = 0x0a;

/** Splits the bytes of a socket into lines. */
export class Lines {
  private parts: Buffer[] = [];
  private waiting = 0;

  /** False if a line is too long. Then nothing more can be read. */
  take(chunk: Buffer, each: (line: string) => void): boolean {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      if (this.waiting + end - from > MOST_LINE_BYTES) return false;
      each(Buffer.concat([...this.parts, chunk.subarray(from, end)]).toString('utf8'));
      this.parts = [];
      this.waiting = 0;
      from = end + 1;
    }
    if (from < chunk.length) {
      this.parts.push(chunk.subarray(from));
      this.waiting += chunk.length - from;
    }
    return this.waiting <= MOST_LINE_BYTES;
  }
}

/** Undefined if the line is not JSON. */
export function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
