import type { AuctionEvent, DomainEvent } from '../rules/events.js';
import { Rerun } from '../rules/replay/rerun.js';
import { decodeEvent, isOfAuction } from '../rules/event-versions.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import { messageOf } from '#libs/journal/journal-errors.js';

/** A record that the rules would not have written at its position. */
export interface Objection {
  readonly sequence: number;
  /** Undefined if the record cannot be read. */
  readonly auction_id: string | undefined;
  readonly type: string | undefined;
  readonly what: string;
}

export interface Rules {
  readonly auctions: number;
  /** Number of auctions that are not over. */
  readonly open: number;
  /** The first objections. `found` counts all of them. */
  readonly objections: readonly Objection[];
  readonly found: number;
}

/** One wrong record leads to objections against later ones, so the first ones are enough. */
const KEPT = 100;

/**
 * Replays every auction of one shard, record by record. An auction that is over is dropped from memory. Only its id is kept,
 * because no event may follow its end.
 */
export class ByTheRules {
  private readonly live = new Map<string, Rerun>();
  /** The effect of a record that the rules cannot read is unknown, so later records of its auction are not judged. */
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
      this.addObjection({ sequence, auction_id: undefined, type: undefined, what: unreadable(error) });
      return;
    }
    if (!isOfAuction(event) || this.lost.has(event.auction_id)) return;
    const what = this.objectionTo(event, sequence);
    if (what !== undefined)
      this.addObjection({ sequence, auction_id: event.auction_id, type: event.type, what });
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

  private addObjection(objection: Objection): void {
    this.found += 1;
    if (this.objections.length < KEPT) this.objections.push(objection);
  }
}

function unreadable(error: unknown): string {
  return `the rules cannot read it: ${messageOf(error)}`;
}
