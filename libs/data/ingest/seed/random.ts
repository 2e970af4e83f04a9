/** A 32-bit hash of both numbers, the same on every machine. */
export function mixed(key: number, value: number): number {
  let bits = Math.imul(key ^ 0x2545f491, 0x9e3779b1) ^ Math.imul(value + 0x6a09e667, 0x85ebca77);
  bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d);
  bits = Math.imul(bits ^ (bits >>> 12), 0x297a2d39);
  return (bits ^ (bits >>> 15)) >>> 0;
}

/** The key of a text for `mixed`. */
export function keyOf(text: string, key = 0): number {
  let bits = mixed(key, text.length);
  for (let at = 0; at < text.length; at += 1) bits = mixed(bits, text.charCodeAt(at));
  return bits;
}

const RANGE = 2 ** 32;

/**
 * A random generator. The same key always gives the same numbers, so any moment of the world can be made without those before it.
 */
export class Draws {
  private drawn = 0;

  constructor(private readonly key: number) {}

  /** 0 to `limit` - 1. */
  below(limit: number): number {
    this.drawn += 1;
    return Math.floor((mixed(this.key, this.drawn) / RANGE) * limit);
  }

  /** True once in `many` times on average. */
  oneIn(many: number): boolean {
    return this.below(many) === 0;
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  of<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }
}
