import type { Asked } from './asked.js';
import { activeQuotes, type AuctionFile } from './auction-file.js';
import { must } from './violation.js';

const FOUNDED = 'refusals are founded';

/** When each maker had a quote in an auction last, and in which revision, by the journals: what a conflict with it is founded in. */
export class StandingQuotes {
  /** By auction and maker; nothing has an end as long as it stands. */
  private readonly until = new Map<string, number>();
  /** By quote, since when it is at the revision at which it is. */
  private readonly revisions = new Map<string, { readonly revision: number; readonly since: number }>();

  constructor(private readonly nowMillis: () => number) {}

  /** The auction has changed. */
  recount(file: AuctionFile): void {
    const active = new Set(file.stage === 'OPEN' ? activeQuotes(file).map(({ maker }) => maker) : []);
    for (const { id, maker, revision } of file.quotes.values()) {
      const name = nameOf(file.id, maker);
      if (this.revisions.get(id)?.revision !== revision)
        this.revisions.set(id, { revision, since: this.nowMillis() });
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

  /** Whoever is refused so had another revision in mind than the quote was at, at some time since. */
  mustHaveDiffered(name: string, { quote_id: id, expected_revision: expected }: Asked, saidAt: number): void {
    const known = this.revisions.get(id ?? '');
    must(
      known !== undefined && expected !== undefined && (known.revision !== expected || known.since > saidAt),
      FOUNDED,
      () => `${name}: quote_revision_conflict, and it is at ${known?.revision ?? 'none'} all the time`,
    );
  }
}

function nameOf(auctionId: string, maker: string): string {
  return `${auctionId}/${maker}`;
}
