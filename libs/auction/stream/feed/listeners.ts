import { accountsOf, eventsFor, type Change, type FeedEvent } from './change.js';

export interface FeedListener {
  /** Entries of one account out of one shard, in the order of its journal. It handles its own failures. */
  onEvents(shard: number, events: readonly FeedEvent[]): void;
}

/** Who wants to hear of which account. */
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

  /** Whoever begins to listen meanwhile has seen these changes already, and whoever has stopped hears nothing more. */
  tell(shard: number, changes: readonly Change[]): void {
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
