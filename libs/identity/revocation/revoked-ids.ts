export interface Revoked {
  /** A `jti` or a `sid`: both are random UUIDs, so one set holds them. */
  readonly id: string;
  /** In seconds since 1970; from then on no token can be accepted on its account anyway. */
  readonly until: number;
}

/** What is revoked and would otherwise still be accepted. Holds a bounded number; past that it no longer knows. */
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

  /** Knows again, given all that is revoked at present. What was added meanwhile stays: it may be newer than that. */
  recover(revoked: readonly Revoked[]): void {
    this.overflowing = false;
    this.add(revoked);
  }

  /** Undefined when nothing is known any more. */
  has(id: string): boolean | undefined {
    return this.overflowing ? undefined : this.untilOf.has(id);
  }

  prune(nowSeconds: number): void {
    for (const [id, until] of this.untilOf) if (until <= nowSeconds) this.untilOf.delete(id);
  }
}
