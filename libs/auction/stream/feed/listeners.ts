import { accountsOf, eventsFor, type Change, type FeedEvent } from './change.js';

export interface FeedListener {
  /** Entries of one account from one shard, in journal order. The listener handles its own failures. */
  onEvents(shard: number, events: readonly FeedEvent[]): void;
}

/** Listeners by account. */
export class Listeners {
  private readonly byAccount = new Map<string, Set<FeedListener>>();

  add(account: string, listener: FeedListener): () => void {
    const listeners = this.byAccount.get(account) ?? new Set();
    this.byAccount.set(account, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.byAccount.get(account) === listeners) this.byAccount.delete(account);
    };
  }

  /** A listener added during the notification has seen these changes already; a removed one gets no more. */
  notify(shard: number, changes: readonly Change[]): void {
    for (const [account, events] of this.entriesIn(changes)) {
      const listeners = this.byAccount.get(account);
      for (const listener of [...(listeners ?? [])]) {
        if (listeners?.has(listener) === true) listener.onEvents(shard, events);
      }
    }
  }

  private entriesIn(changes: readonly Change[]): Map<string, FeedEvent[]> {
    const entries = new Map<string, FeedEvent[]>();
    if (this.byAccount.size === 0) return entries;
    for (const change of changes) {
      for (const account of accountsOf(change)) {
        if (!this.byAccount.has(account)) continue;
        const events = eventsFor(change, account);
        const earlier = entries.get(account);
        if (earlier !== undefined) earlier.push(...events);
        else if (events.length > 0) entries.set(account, events);
      }
    }
    return entries;
  }
}
