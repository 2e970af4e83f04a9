import { createHash, randomBytes } from 'node:crypto';

const INITIAL_CAPACITY = 1_024;
const SALT_BYTES = 16;

/**
 * A set of award ids in eight bytes each, because there may be millions. It keeps hashes with a random salt, so an id that
 * collides with another cannot be constructed.
 */
export class AwardSet {
  private readonly salt = randomBytes(SALT_BYTES);
  private hashes = new BigUint64Array(INITIAL_CAPACITY);
  private size = 0;
  private isSorted = true;

  add(id: string): void {
    if (this.size === this.hashes.length) {
      const larger = new BigUint64Array(2 * this.size);
      larger.set(this.hashes);
      this.hashes = larger;
    }
    this.hashes[this.size] = this.hashOf(id);
    this.size += 1;
    this.isSorted = false;
  }

  has(id: string): boolean {
    const wanted = this.hashOf(id);
    this.sort();
    let [from, end] = [0, this.size];
    while (from < end) {
      const middle = Math.floor((from + end) / 2);
      if ((this.hashes[middle] ?? 0n) < wanted) from = middle + 1;
      else end = middle;
    }
    return from < this.size && this.hashes[from] === wanted;
  }

  private sort(): void {
    if (!this.isSorted) this.hashes.subarray(0, this.size).sort();
    this.isSorted = true;
  }

  private hashOf(id: string): bigint {
    return createHash('sha256').update(this.salt).update(id).digest().readBigUInt64LE(0);
  }
}
