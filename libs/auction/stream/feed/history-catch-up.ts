import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { evolve } from '../../rules/evolve/evolve.js';
import type { AuctionState } from '../../rules/state.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { StreamLimits } from '../stream-limits.js';
import type { HistoryStore } from '../../protocol/histories.js';
import type { FeedEvent, Gain } from './change.js';
import { HistoryPage, type HistoryPageLimits } from './history-page.js';
import { liveFor, type Feed, type ViewerState } from './feed.js';

/** The entries that the account's timelines gained from one shard between two positions. */
export interface Section {
  readonly upTo: number;
  /** Nothing comes after it yet. */
  readonly isLast: boolean;
  events(): Iterable<FeedEvent>;
  /** The same, only counted. */
  gains(): Iterable<Gain>;
}

export interface HistoryCatchUpPorts {
  readonly feed: Feed;
  readonly store: HistoryStore;
  readonly clock: Clock;
  readonly limits: Pick<StreamLimits, 'catchUpMillis' | 'recallsAtOnce'> & HistoryPageLimits;
}

const TRY_AGAIN_MILLIS = 100;

/** The history store is unavailable, or lags too much. */
export class HistoryStoreAway extends Error {
  override readonly name = 'HistoryStoreAway';
}

/** How far the store has got, and the auctions that may still be open for the account there. */
interface Reach {
  readonly shard: number;
  readonly upTo: number;
  readonly others: readonly string[];
}

/** Shared by all connections of a gateway. */
export class HistoryCatchUps {
  private readonly limit: ConcurrencyLimit;

  constructor(private readonly ports: HistoryCatchUpPorts) {
    this.limit = new ConcurrencyLimit(ports.limits.recallsAtOnce);
  }

  of(account: string): HistoryCatchUp {
    return new HistoryCatchUp(this.ports, this.limit, account);
  }
}

/**
 * The whole history of one account's timelines. Recent changes come from the feed; older ones from the store, page
 * by page. Only the account's own auctions are read, so the activity of others makes no difference.
 */
export class HistoryCatchUp {
  private kept:
    { readonly shard: number; readonly page: HistoryPage; readonly events: readonly FeedEvent[] } | undefined;

  constructor(
    private readonly ports: HistoryCatchUpPorts,
    private readonly limit: ConcurrencyLimit,
    private readonly account: string,
  ) {}

  /** What can be read without waiting. Undefined if `recall` is needed first. */
  behind(shard: number, position: number): Section | undefined {
    const { feed } = this.ports;
    const { account, kept } = this;
    if (feed.reaches(shard, position)) {
      return {
        upTo: feed.positions()[shard] ?? position,
        isLast: true,
        events: () => feed.since(account, shard, position),
        gains: () => feed.gainsSince(account, shard, position),
      };
    }
    if (kept?.shard !== shard || position < kept.page.behind || position >= kept.page.upTo) return undefined;
    const events = kept.events.filter((event) => event.position > position);
    return {
      upTo: kept.page.upTo,
      isLast: false,
      events: () => events,
      gains: () => events.map(({ auctionId }) => ({ auctionId, entries: 1 })),
    };
  }

  /** Loads what comes after this position. Finally fails with HistoryStoreAway. */
  async recall(shard: number, position: number): Promise<void> {
    await this.find(
      shard,
      () => this.behind(shard, position),
      async (reach) => {
        if (reach.upTo > position) await this.read(reach, position);
        return this.behind(shard, position);
      },
    );
  }

  /** The auctions that were live for the account at this position. Finally fails with HistoryStoreAway. */
  liveAt(shard: number, position: number): Promise<readonly ViewerState[]> {
    const { feed } = this.ports;
    return this.find(
      shard,
      () => (feed.reaches(shard, position) ? feed.liveAt(this.account, shard, position) : undefined),
      async (reach) => (reach.upTo < position ? undefined : this.readLive(reach, position)),
    );
  }

  /** Tries one source after the other until something is found or time is up. */
  private async find<T>(
    shard: number,
    atHand: () => T | undefined,
    kept: (reach: Reach) => Promise<T | undefined>,
  ): Promise<T> {
    return (
      atHand() ??
      this.limit.run(async () => {
        const { clock, limits } = this.ports;
        const until = clock.monotonicNanos() + BigInt(limits.catchUpMillis) * NANOS_PER_MILLI;
        let cause: unknown;
        for (;;) {
          try {
            const reach = await this.reach(shard);
            const found = atHand() ?? (reach && (await kept(reach)));
            if (found !== undefined) return found;
          } catch (error) {
            cause = error;
          }
          if (clock.monotonicNanos() >= until)
            throw new HistoryStoreAway('the history store is unavailable', { cause });
          await pause(clock, TRY_AGAIN_MILLIS);
        }
      })
    );
  }

  /** The store knows ended auctions and the feed the others. There must be no gap between them. */
  private async reach(shard: number): Promise<Reach | undefined> {
    const { feed, store } = this.ports;
    const upTo = Math.min(await store.position(shard), feed.positions()[shard] ?? 0);
    if (!feed.reaches(shard, upTo)) return undefined;
    return { shard, upTo, others: feed.openAt(this.account, shard, upTo) };
  }

  private async read({ shard, upTo, others }: Reach, position: number): Promise<void> {
    const { account } = this;
    const { store, limits } = this.ports;
    const page = new HistoryPage(account, position, upTo, limits);
    const from = { openAt: position, happenedBehind: position };
    const wanted = { account, shard, others, ...from, upTo: () => page.upTo };
    for await (const part of store.histories(wanted)) page.add(part);
    this.kept = { shard, events: page.end(), page };
  }

  private async readLive({ shard, others }: Reach, position: number): Promise<ViewerState[]> {
    const { account } = this;
    const states = new Map<string, AuctionState>();
    const wanted = { account, shard, others, openAt: position, happenedBehind: 0, upTo: () => position };
    for await (const { auctionId, events } of this.ports.store.histories(wanted)) {
      const state = events.reduce(evolve, states.get(auctionId));
      if (state !== undefined) states.set(auctionId, state);
    }
    return [...states.values()].flatMap((state) => liveFor(account, state));
  }
}

/** Limits concurrent work. The others wait in order. */
class ConcurrencyLimit {
  private working = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly atOnce: number) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.working >= this.atOnce) {
      // The work that ends passes its slot on.
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
    } else this.working += 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.working -= 1;
      else next();
    }
  }
}
