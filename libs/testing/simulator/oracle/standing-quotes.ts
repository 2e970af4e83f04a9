import { activeQuotes, type AuctionFile } from './auction-file.js';
import { must } from './violation.js';

const FOUNDED = 'refusals are founded';

/** When each maker had a quote in an auction last, by the journals: what a refusal of another one beside it is founded in. */
export class StandingQuotes {
  /** By auction and maker; nothing has an end as long as it stands. */
  private readonly until = new Map<string, number>();

  constructor(private readonly nowMillis: () => number) {}

  /** The auction has changed. */
  recount(file: AuctionFile): void {
    const active = new Set(file.stage === 'OPEN' ? activeQuotes(file).map(({ maker }) => maker) : []);
    for (const { maker } of file.quotes.values()) {
      const name = nameOf(file.id, maker);
      if (active.has(maker)) this.until.set(name, Infinity);
      else if (this.until.get(name) === Infinity) this.until.set(name, this.nowMillis());
    }
  }

  /** Whoever is refused so had one when it said it, or later: an owner decides by what is in its journal by the time of the answer. */
  mustHaveStood(name: string, auctionId: string, maker: string, saidAt: number): void {
    const until = this.until.get(nameOf(auctionId, maker)) ?? -Infinity;
    must(
      until >= saidAt,
      FOUNDED,
      () => `${name}: quote_already_active, and none has stood since it was said`,
    );
  }
}

function nameOf(auctionId: string, maker: string): string {
  return `${auctionId}/${maker}`;
}
