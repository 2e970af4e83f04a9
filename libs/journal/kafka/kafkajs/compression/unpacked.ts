/** What a decoder has made so far. It never holds more than its limit, and gives nothing that it has not made. */
export class Unpacked {
  private bytes: Buffer;
  private length = 0;

  constructor(
    private readonly limit: number,
    /** About as much as there will be. */
    expected: number,
  ) {
    this.bytes = Buffer.allocUnsafe(Math.min(limit, expected));
  }

  get content(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  add(literals: Buffer): void {
    this.makeRoom(literals.length);
    literals.copy(this.bytes, this.length);
    this.length += literals.length;
  }

  /** What is repeated may go on into what that makes: then it is repeated until there is enough. */
  repeat(distance: number, size: number): void {
    if (distance < 1 || distance > this.length) throw new Error('it repeats what is not there');
    this.makeRoom(size);
    const from = this.length - distance;
    for (let left = size; left > 0;) {
      const some = Math.min(left, this.length - from);
      this.bytes.copyWithin(this.length, from, from + some);
      this.length += some;
      left -= some;
    }
  }

  private makeRoom(size: number): void {
    const wanted = this.length + size;
    if (wanted > this.limit) throw new Error(`it is more than ${this.limit} bytes`);
    if (wanted <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.min(this.limit, 2 * wanted));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}
