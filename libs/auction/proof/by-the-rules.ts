import type { AuctionEvent, DomainEvent } from '../rules/events.js';
import { Rerun } from '../rules/replay/rerun.js';
import { decodeEvent, isOfAuction } from '../rules/event-versions.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import { messageOf } from '#libs/journal/journal-errors.js';

/** A record that the rules would not have written where it stands. */
export interface Objection {
  readonly sequence: number;
  /** Undefined where the record cannot even be read. */
  readonly auction_id: string | undefined;
  readonly type: string | undefined;
  readonly what: string;
}

export interface Rules {
  readonly auctions: number;
  /** Those of them that are not over. */
  readonly open: number;
  /** The first of them. */
  readonly objections: readonly Objection[];
  readonly found: number;
}

/** One wrong record is followed by others that rest on it; whoever looks begins at the first. */
const KEPT = 100;

/**
 * Runs every auction of one shard again, record by record as they come. An auction is let go of when it is over; that it was there is
 * remembered, for nothing may come behind its end.
 */
export class ByTheRules {
  private readonly live = new Map<string, Rerun>();
  /** What came of a record that no rule can read is not known, so nothing is said of what follows. */
  private readonly lost = new Set<string>();
  private readonly over = new Set<string>();
  private readonly objections: Objection[] = [];
  private found = 0;

  constructor(private readonly shard: number) {}

  take(entries: readonly JournalEntry[]): void {
    for (const entry of entries) if (entry.kind === 'event') this.read(entry);
  }

  get told(): Rules {
    const auctions = this.live.size + this.lost.size + this.over.size;
    return { auctions, open: this.live.size, objections: this.objections, found: this.found };
  }

  private read({ sequence, payload }: JournalEntry): void {
    let event: DomainEvent;
    try {
      event = decodeEvent(payload);
    } catch (error) {
      this.object({ sequence, auction_id: undefined, type: undefined, what: unreadable(error) });
      return;
    }
    if (!isOfAuction(event) || this.lost.has(event.auction_id)) return;
    const what = this.objectionTo(event, sequence);
    if (what !== undefined) this.object({ sequence, auction_id: event.auction_id, type: event.type, what });
  }

  private objectionTo(event: AuctionEvent, position: number): string | undefined {
    const { auction_id: id } = event;
    if (this.over.has(id)) return 'the auction is over';
    const rerun = this.live.get(id) ?? new Rerun('JOURNALED');
    this.live.set(id, rerun);
    let objection = id.startsWith(String(this.shard)) ? undefined : 'it belongs to another shard';
    try {
      objection ??= rerun.objectionTo(event);
      rerun.take({ position, event });
    } catch (error) {
      this.live.delete(id);
      this.lost.add(id);
      return objection ?? unreadable(error);
    }
    if (rerun.state?.completed_at !== undefined) {
      this.live.delete(id);
      this.over.add(id);
    }
    return objection;
  }

  private object(objection: Objection): void {
    this.found += 1;
    if (this.objections.length < KEPT) this.objections.push(objection);
  }
}

function unreadable(error: unknown): string {
  return `the rules cannot read it: ${messageOf(error)}`;
}
