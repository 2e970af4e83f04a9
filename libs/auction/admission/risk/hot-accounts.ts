/** Beyond this number the oldest mark is dropped. Marks only save work. */
const MAX_MARKS = 4_096;

/**
 * Accounts on which shards had conflicts lately. A lock on them is cheaper than a failed serializable transaction,
 * which costs the whole batch.
 */
export class HotAccounts {
  private readonly until = new Map<string, bigint>();

  constructor(private readonly coolNanos: bigint) {}

  mark(accounts: Iterable<string>, now: bigint): void {
    for (const account of accounts) {
      this.until.delete(account);
      this.until.set(account, now + this.coolNanos);
    }
    for (const account of this.until.keys()) {
      if (this.until.size <= MAX_MARKS) break;
      this.until.delete(account);
    }
  }

  among(accounts: Iterable<string>, now: bigint): string[] {
    const hot: string[] = [];
    for (const account of new Set(accounts)) {
      const until = this.until.get(account);
      if (until === undefined) continue;
      if (until > now) hot.push(account);
      else this.until.delete(account);
    }
    return hot;
  }
}
