import type { JournalWriter } from '#libs/journal/journal.js';
import type { Committed } from '#libs/shard/command-loop.js';
import type { JournalProgress } from '#libs/shard/journal-progress.js';
import type { LeadershipCheck } from '#libs/shard/leadership-check.js';
import type { SnapshotKeeper } from '#libs/shard/snapshot-keeper.js';
import type { JournalNotice } from '#libs/link/journal-notices.js';
import type { AuctionDeadlines } from './auction-deadlines.js';
import type { AuctionTypes } from './auction-task.js';
import type { ConnectionDesk } from './connections/connection-desk.js';
import type { AuctionBook, AuctionEntry } from './memory/auction-book.js';
import type { StoredAnswers } from './memory/stored-answers.js';
import type { PendingAwards } from './pending-awards.js';
import { momentOf, type ShardMoment } from './recovery/shard-snapshot.js';

export interface CommitPorts {
  readonly writer: JournalWriter;
  readonly announce: (notice: JournalNotice) => void;
  readonly book: AuctionBook;
  readonly stored: StoredAnswers;
  readonly awards: PendingAwards;
  readonly progress: JournalProgress;
  readonly keeper: SnapshotKeeper<ShardMoment>;
  readonly leadership: LeadershipCheck;
  readonly deadlines: AuctionDeadlines;
  readonly connections: ConnectionDesk;
}

/** Passes durable events to every part of the shard, in journal order. */
export class CommitHandler {
  constructor(private readonly ports: CommitPorts) {}

  committed({ entities, events, head, append }: Committed<AuctionTypes>): void {
    const { announce, connections, keeper, leadership, progress, stored } = this.ports;
    if (append !== undefined) {
      leadership.proven(append.since);
      announce({ head, records: append.records });
    }
    progress.committed(head, events);
    for (const [index, event] of events.entries()) stored.note(head - events.length + 1 + index, event);
    for (const entry of entities) this.changed(entry);
    connections.onEvents(events);
    if (keeper.isDue(head)) this.takeSnapshot(head);
  }

  /** The durable state of the auction has changed, or was recovered. */
  changed(entry: AuctionEntry): void {
    this.ports.deadlines.watch(entry);
    this.ports.awards.note(entry);
  }

  /** Called between two appends, so the writer's head is the last record that memory includes. */
  private takeSnapshot(head: number): void {
    const { book, connections, keeper, progress, stored, writer } = this.ports;
    const record = writer.head;
    if (record.sequence !== head) return;
    const otherState = {
      lastEventAt: progress.lastEventAt,
      answers: stored.recents,
      connections: connections.noted.all(),
    };
    keeper.take(momentOf(head, book.all(), otherState), record);
  }
}
