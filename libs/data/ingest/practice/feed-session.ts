import type { Clock } from '#libs/platform/time/clock.js';
import type { Quarantined, SourceBatch } from '../source.js';
import { BookFollower } from './book-follower.js';
import { FeedProgress } from './feed-progress.js';
import { FeedSocket } from './feed-socket.js';
import { MarketFollower } from './market-follower.js';
import type { PriceWatch } from './price-watch.js';
import type { FrameNews, VenueConnection, VenueProtocol } from './protocol.js';
import { isQuarantined } from './reading.js';
import { TradeFollower } from './trade-follower.js';

export interface FeedSessionPorts {
  readonly clock: Clock;
  readonly protocol: VenueProtocol;
  readonly prices: PriceWatch;
}

/**
 * Follows one venue from a cursor until it cannot be reached or is stopped: its lists, its books, and its socket, which is faster.
 */
export class FeedSession {
  private readonly progress: FeedProgress;
  private readonly markets: MarketFollower;
  private readonly trades: TradeFollower;
  private readonly books: BookFollower;
  private readonly socket: FeedSocket;
  private connection: VenueConnection | undefined;

  constructor(
    private readonly ports: FeedSessionPorts,
    cursor: string | undefined,
  ) {
    const { clock, protocol } = ports;
    this.progress = new FeedProgress(clock, cursor ?? '');
    const common = { ...ports, progress: this.progress };
    const live = {
      isSocketOpen: (): boolean => this.connection !== undefined,
      onSilence: (): void => this.socket.restart(),
    };
    const onTrades = (ids: Iterable<string>): void => this.markets.expect(ids);
    this.trades = new TradeFollower({ ...common, ...live, onTrades }, cursor);
    this.books = new BookFollower({ ...common, ...live });
    this.markets = new MarketFollower({
      ...common,
      onOpen: (ids) => this.follow(this.books.follow(ids)),
      onEnded: (ids) => this.books.leave(ids),
    });
    this.socket = new FeedSocket({
      ...{ clock, ping: protocol.ping, address: () => protocol.socketAddress() },
      onOpen: () => this.opened(),
      onFrame: (frame) => this.handleFrame(frame),
      onClose: () => {
        this.connection = undefined;
      },
    });
  }

  async *run(stop: AbortSignal): AsyncGenerator<SourceBatch | Quarantined, void> {
    const ended = new AbortController();
    const signal = AbortSignal.any([stop, ended.signal]);
    const { outlet } = this.progress;
    signal.addEventListener('abort', () => outlet.end(), { once: true });
    const work = this.work(signal).catch((error: unknown) => outlet.fail(error));
    try {
      yield* outlet.items();
    } finally {
      ended.abort();
      outlet.end();
      this.socket.close();
      await work;
    }
  }

  /** The first task that fails ends all. */
  private async work(stop: AbortSignal): Promise<void> {
    await this.markets.read(stop);
    this.socket.start();
    const ended = new AbortController();
    const signal = AbortSignal.any([stop, ended.signal]);
    const all = [
      this.trades.run(signal),
      this.markets.run(signal),
      this.books.publish(signal),
      this.books.check(signal),
    ];
    try {
      await Promise.all(all);
    } finally {
      ended.abort();
      this.progress.outlet.end();
      await Promise.allSettled(all);
    }
  }

  private opened(): void {
    this.connection = this.ports.protocol.connection();
    this.follow(this.books.followed, true);
    this.trades.ring();
    this.markets.ring();
  }

  private follow(marketIds: readonly string[], isFirst = false): void {
    if (this.connection === undefined || (marketIds.length === 0 && !isFirst)) return;
    for (const text of this.connection.follow(marketIds)) this.socket.send(text);
  }

  private handleFrame(frame: string): void {
    const news = this.connection?.read(frame);
    if (news === undefined) return;
    if (isQuarantined(news)) {
      void this.progress.outlet.put(news);
      this.socket.restart();
      return;
    }
    for (const each of news.value) this.handle(each);
  }

  private handle(news: FrameNews): void {
    switch (news.what) {
      case 'trade':
        this.handleTrade(news);
        return;
      case 'market':
        this.markets.ring();
        return;
      case 'book':
        this.books.replace(news.book);
        return;
      case 'change':
        if (!this.books.change(news.change)) this.socket.restart();
        return;
      case 'lost':
        this.socket.restart();
        return;
    }
  }

  /** If the queue is full, the trade is read from the list later. */
  private handleTrade({ trade }: FrameNews & { readonly what: 'trade' }): void {
    if (trade === undefined || this.progress.outlet.isFull) this.trades.ring();
    else void this.trades.take(trade);
  }
}
