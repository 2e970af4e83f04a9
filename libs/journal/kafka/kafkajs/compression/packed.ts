const EARLY = 'it ends too early';

/** Compressed bytes, as far as they have not been read yet. Nobody reads past their end. */
export class Packed {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  get left(): number {
    return this.bytes.length - this.at;
  }

  byte(): number {
    const byte = this.bytes[this.at];
    if (byte === undefined) throw new Error(EARLY);
    this.at += 1;
    return byte;
  }

  /** Of up to four bytes, the least significant first. */
  number(size: number): number {
    let value = 0;
    for (let weight = 1, left = size; left > 0; left -= 1, weight *= 256) value += this.byte() * weight;
    return value;
  }

  take(size: number): Buffer {
    if (size > this.left) throw new Error(EARLY);
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }
}
