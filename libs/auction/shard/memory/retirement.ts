import type { Clock } from '#libs/platform/time/clock.js';
import { pause } from '#libs/platform/time/clock.js';
import type { AuctionBook } from './auction-book.js';
import type { AuctionHistories } from '../ports.js';

const TRY_AGAIN_MILLIS = 1_000;

export interface RetirementPorts {
  readonly book: AuctionBook;
  readonly histories: AuctionHistories;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}

/**
 * Auctions that are over and projected leave memory, each when its history is kept: a create that comes again must find that its auction
 * has been, whatever has become of the projections since.
 */
export class Retirement {
  private projectedTo = 0;
  private isWorking = false;
  private stopped = false;

  constructor(private readonly ports: RetirementPorts) {}

  /** The projections have come so far. */
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
        await pause(clock, TRY_AGAIN_MILLIS);
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
  const over = book.overBy(projectedTo);
  if (over.length === 0) return;
  await histories.keep(over.map(({ id, positions }) => ({ auctionId: id, positions })));
  book.evict(projectedTo);
}
