import type { AuctionFile, FiledAward } from '../auction-file.js';
import type { PlacedEvent, RawAward } from '../raw-events.js';
import { QuoteCourse } from './quote-course.js';
import { lossOf } from './results.js';

export interface Cancellation {
  readonly at: string;
  readonly by: string;
  readonly reason: string | undefined;
}

/** What may be shown of an auction besides its file. Each event is added after it was added to the file. */
export class Picture {
  /** In order of submission. */
  readonly quotes = new Map<string, QuoteCourse>();
  cancellation: Cancellation | undefined;
  isDecided = false;
  isExecuting = false;
  completedAt: string | undefined;
  /** The time at which each award ended. */
  readonly ends = new Map<string, string>();

  constructor(readonly file: AuctionFile) {}

  take(placed: PlacedEvent): void {
    const { type, data, at } = placed.event;
    const quote = this.quotes.get(data.quote?.quote_id ?? data.quote_id ?? '');
    if (type === 'QUOTE_SUBMITTED' && data.quote !== undefined) {
      const { quote: terms } = data;
      this.quotes.set(terms.quote_id, new QuoteCourse(this.file.id, terms, placed));
    } else if (type === 'QUOTE_REVISED' && data.quote !== undefined) {
      quote?.change(placed, { terms: data.quote });
    } else if (type === 'QUOTE_WITHDRAWN') {
      quote?.change(placed, { status: 'WITHDRAWN', withdrawnBy: data.by ?? '' });
    } else if (type === 'QUOTE_EXPIRED') quote?.change(placed, { status: 'EXPIRED' });
    else if (type === 'AUCTION_CANCELLED' || type === 'AUCTION_VOIDED') {
      this.cancellation = { at, by: data.by ?? '', reason: data.reason };
      for (const course of this.standing()) course.change(placed, { status: 'RELEASED' });
    } else if (type === 'AUCTION_AWARDED' || type === 'AUCTION_NOT_AWARDED') this.decide(placed);
    else if (type.startsWith('EXECUTION_')) this.execute(placed);
    else if (type === 'AUCTION_COMPLETED') this.completedAt = at;
  }

  awardOf(maker: string): FiledAward | undefined {
    return [...this.file.awards.values()].find(({ terms }) => terms.maker === maker);
  }

  quotesOf(maker: string): QuoteCourse[] {
    return [...this.quotes.values()].filter((course) => course.maker === maker);
  }

  /** The maker's quote that was active at the close. */
  judgedOf(maker: string): string | undefined {
    return [...this.file.quotes.values()].find((quote) => quote.maker === maker && quote.status === 'JUDGED')
      ?.id;
  }

  private standing(): QuoteCourse[] {
    return [...this.quotes.values()].filter(({ isActive }) => isActive);
  }

  private decide(placed: PlacedEvent): void {
    this.isDecided = true;
    const awards = new Map((placed.event.data.awards ?? []).map((award) => [award.quote_id, award]));
    for (const { id, quantity } of this.file.quotes.values()) {
      const course = this.quotes.get(id);
      if (course?.isActive !== true) continue;
      const award = awards.get(id);
      if (award !== undefined) course.change(placed, won(award, quantity));
      else {
        const result = { awarded_quantity_atoms: 0, ...lossOf(this.file, id) };
        course.change(placed, { status: 'NOT_AWARDED', result });
      }
    }
  }

  private execute(placed: PlacedEvent): void {
    const { type, data, at } = placed.event;
    this.isExecuting = true;
    const id = data.award_id ?? '';
    if (type !== 'EXECUTION_CONFIRMED' && type !== 'EXECUTION_FAILED') return;
    this.ends.set(id, at);
    const quoteId = this.file.awards.get(id)?.terms.quote_id ?? '';
    this.quotes
      .get(quoteId)
      ?.change(placed, { status: type === 'EXECUTION_CONFIRMED' ? 'SETTLED' : 'FAILED' });
  }
}

function won({ award_id: awardId, quantity_atoms: awarded }: RawAward, quantity: number) {
  return {
    status: awarded < quantity ? 'PARTIALLY_AWARDED' : 'AWARDED',
    result: { awarded_quantity_atoms: awarded, award_id: awardId },
  };
}
