export interface Revoked {
  /** A `jti` or a `sid`: both are random UUIDs, so one set holds them. */
  readonly id: string;
  /** In seconds since 1970; from then on tokens with this id are refused anyway. */
  readonly until: number;
}

/** Revoked ids whose tokens would otherwise be accepted. Holds a bounded number; past that it gives no answer. */
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

  /** Answers again, given all present revocations. Keeps those added meanwhile, which may be newer. */
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
