import { DataWorld, type WorldReply } from './data-world.js';
import { BookKeeper } from '#libs/data/ingest/book-keeper.js';
import type { BookEvent, MarketDataEvent } from '#libs/data/rules/events.js';
import type { Provider } from '#libs/data/rules/providers.js';
import { BookTable } from '#libs/data/store/book-table.js';
import { MovableClock } from '../movable-clock.js';
import { marketEvent } from './streams.js';

export const SECOND = 1_000_000;

/** The listener of the companion, at a clock that stands still. */
export class CompanionWorld {
  private constructor(
    readonly data: DataWorld,
    readonly clock: MovableClock,
    readonly now: number,
  ) {}

  static async open(): Promise<CompanionWorld> {
    const clock = new MovableClock();
    clock.stopAtEpoch((clock.epochNanos() / 1_000_000_000n + 2n) * 1_000_000_000n);
    const data = await DataWorld.open({ clock, limitsFactor: 1_000 });
    return new CompanionWorld(data, clock, Number(clock.epochNanos() / 1_000n));
  }

  async get(path: string): Promise<WorldReply> {
    return this.data.ask(path, { on: 'companion' });
  }

  /** The body of a reply with status 200. */
  async bodyOf(path: string): Promise<unknown> {
    const { status, body, text } = await this.get(path);
    if (status !== 200) throw new Error(`${path}: ${String(status)} ${text}`);
    return body;
  }

  listed(provider: Provider, id: string, over: object = {}): MarketDataEvent {
    return { ...marketEvent(provider, id, this.now - 3_600 * SECOND), ...over };
  }

  resolution(
    provider: Provider,
    id: string,
    over: { payouts: readonly number[]; at?: number; status?: 'resolved' | 'settled'; disputed?: boolean },
  ): MarketDataEvent {
    const { payouts, at = this.now - 80, status = 'resolved', disputed } = over;
    return {
      ...{ type: 'RESOLUTION', provider, market_id: id, source_id: `${id} ${status} ${at}`, source_ts: at },
      ...{ received_at: at, status, payouts, ...(disputed === undefined ? {} : { disputed }) },
    };
  }

  /** Bids at 0.40 and 0.39 and an ask at 0.44, with changes. */
  bookEvent(provider: Provider, over: Partial<BookEvent> = {}): BookEvent {
    const { now } = this;
    return {
      ...{ type: 'BOOK', provider, market_id: 'm', outcome_index: 0, sequence: 5n, snapshot: true },
      ...{ source_id: `b${String(over.sequence ?? 5n)}`, source_ts: now, received_at: now },
      bids: [
        { price: 400_000, size: 3_000_000n },
        { price: 390_000, size: 1_500_000n },
      ],
      asks: [{ price: 440_000, size: 2_000_000n }],
      ...over,
    };
  }

  /** Stores books as ingest does, and waits until they are stored. */
  async shout(...events: readonly BookEvent[]): Promise<void> {
    const table = new BookTable(this.data.ingest.database.pool);
    for (const event of events) {
      const keeper = new BookKeeper(event.provider, table, { clock: this.clock, onFault: () => undefined });
      await keeper.take([event]);
      await keeper.flush();
    }
  }

  async close(): Promise<void> {
    await this.data.close();
    this.clock.forgetTimers();
  }
}
