import type { MarketDataEvent } from '#libs/data/rules/events.js';
import type { SourceBatch, SourceFeed } from '#libs/data/ingest/source.js';
import type { Provider } from '#libs/data/rules/providers.js';

/** A source that delivers events as soon as `tell` gets them. */
export class ToldFeed implements SourceFeed {
  readonly source = 'practice';
  private readonly told: MarketDataEvent[][] = [];
  private wake: () => void = () => undefined;

  constructor(readonly of: Provider) {}

  tell(...events: readonly MarketDataEvent[]): void {
    this.told.push([...events]);
    this.wake();
  }

  async *follow(_cursor: string | undefined, stop: AbortSignal): AsyncIterable<SourceBatch> {
    stop.addEventListener('abort', () => this.wake());
    for (let number = 0; !stop.aborted;) {
      const events = this.told[number];
      if (events === undefined) {
        await new Promise<void>((resolve) => (this.wake = resolve));
        continue;
      }
      number += 1;
      yield { events, cursor: String(number), isCaughtUp: number === this.told.length };
    }
  }

  /** There are no older events. */
  async *backfill(): AsyncIterable<SourceBatch> {
    yield await Promise.resolve({ events: [], cursor: '0', isCaughtUp: true });
  }
}
