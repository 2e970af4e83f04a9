import type { Clock } from '#libs/platform/time/clock.js';
import { pause } from '#libs/platform/time/clock.js';
import type { AuctionBook } from './auction-book.js';
import type { AuctionHistories } from '../ports.js';

const RETRY_MILLIS = 1_000;

export interface RetirementPorts {
  readonly book: AuctionBook;
  readonly histories: AuctionHistories;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}

/**
 * Evicts auctions that are over and projected, once their history is stored. A repeated create must find that its auction
 * existed, whatever happened to the projections since.
 */
export class Retirement {
  private projectedTo = 0;
  private isWorking = false;
  private stopped = false;

  constructor(private readonly ports: RetirementPorts) {}

  /** The projections are written up to this position. */
  projected(to: number): void {
    this.projectedTo = Math.max(this.projectedTo, to);
    if (!this.isWorking) void this.work();
  }

  stop(): void {
    this.stopped = true;
  }

  private async work(): Promise<void> {
    const { book, histories, clock, onFault } = this.ports;
    this.isWorking = true;
    for (let done = 0; done < this.projectedTo && !this.stopped;) {
      const to = this.projectedTo;
      try {
        await retire(book, histories, to);
        done = to;
      } catch (error) {
        onFault(error);
        await pause(clock, RETRY_MILLIS);
      }
    }
    this.isWorking = false;
  }
}

export async function retire(
  book: AuctionBook,
  histories: AuctionHistories,
  projectedTo: number,
): Promise<void> {
  const evictable = book.overBy(projectedTo);
  if (evictable.length === 0) return;
  await histories.keep(evictable.map(({ id, positions }) => ({ auctionId: id, positions })));
  book.evict(projectedTo);
}
