export interface Revoked {
  /** A `jti` or a `sid`. Both are random UUIDs, so one set can hold them. */
  readonly id: string;
  /** In seconds since 1970. From then on tokens with this id are refused anyway. */
  readonly until: number;
}

/** Revoked ids whose tokens have not expired. Holds a bounded number, and gives no answer beyond that. */
export class RevokedIds {
  private readonly untilOf = new Map<string, number>();
  private overflowing = false;

  constructor(readonly capacity: number) {}

  get overflowed(): boolean {
    return this.overflowing;
  }

  get size(): number {
    return this.untilOf.size;
  }

  add(revoked: readonly Revoked[]): void {
    for (const { id, until } of revoked) this.untilOf.set(id, until);
    if (this.untilOf.size <= this.capacity) return;
    this.untilOf.clear();
    this.overflowing = true;
  }

  /** Ends an overflow with all current revocations. Keeps those added since, which may be newer. */
  recover(revoked: readonly Revoked[]): void {
    this.overflowing = false;
    this.add(revoked);
  }

  /** Undefined after an overflow. */
  has(id: string): boolean | undefined {
    return this.overflowing ? undefined : this.untilOf.has(id);
  }

  prune(nowSeconds: number): void {
    for (const [id, until] of this.untilOf) if (until <= nowSeconds) this.untilOf.delete(id);
  }
}
