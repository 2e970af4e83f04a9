import { accountsOf, eventsFor, type Change, type FeedEvent } from './change.js';

export interface FeedListener {
  /** Entries of one account from one shard, in the order of its journal. The listener handles its own failures. */
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

  /** A listener that is added meanwhile has seen these changes already, and one that is removed gets no more. */
  notify(shard: number, changes: readonly Change[]): void {
    for (const [account, events] of this.newsIn(changes)) {
      const listeners = this.byAccount.get(account);
      for (const listener of [...(listeners ?? [])]) {
        if (listeners?.has(listener) === true) listener.onEvents(shard, events);
      }
    }
  }

  private newsIn(changes: readonly Change[]): Map<string, FeedEvent[]> {
    const news = new Map<string, FeedEvent[]>();
    if (this.byAccount.size === 0) return news;
    for (const change of changes) {
      for (const account of accountsOf(change)) {
        if (!this.byAccount.has(account)) continue;
        const events = eventsFor(change, account);
        const earlier = news.get(account);
        if (earlier !== undefined) earlier.push(...events);
        else if (events.length > 0) news.set(account, events);
      }
    }
    return news;
  }
}
