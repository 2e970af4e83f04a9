import { pause, type Clock } from '#libs/platform/time/clock.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { GroupCommitWriter } from '../group-commit-writer.js';
import type { Journal, JournalHead, JournalWriter } from '../journal.js';
import { JournalUnavailable, messageOf } from '../journal-errors.js';
import type { JournalFamily } from '../journal-id.js';
import type { RecordMacs } from '../seals/record-macs.js';
import { PostgresSink } from './postgres-sink.js';
import { Session } from './session.js';
import { keepShard, takeShard } from './take-shard.js';

const OPEN_WITHIN_MILLIS = 10_000;
const APPEND_WITHIN_MILLIS = 5_000;
const SETTLE_WITHIN_MILLIS = 10_000;
/** How often an opener tries again while another process has locked the shard. */
const KEPT_MILLIS = 50;

export interface PostgresJournalOptions {
  readonly family: JournalFamily;
  readonly url: string;
  readonly clock: Clock;
  /** The name of the process in epoch records. */
  readonly opener: string;
  /** Without keys records get no MACs, and every end is trusted. */
  readonly seals?: RecordMacs | undefined;
  readonly openWithinMillis?: number;
  /** After this long without a reply the connection is closed, and the outcome is read over another one. */
  readonly appendWithinMillis?: number;
  readonly settleWithinMillis?: number;
}

/** A shard that only this process may open next. Other openers wait. */
export interface KeptShard {
  /** Call once, after the previous writer has closed: a fenced writer cannot answer its callers. */
  open(): Promise<JournalWriter>;
  /** Releases the shard unopened. */
  letGo(): Promise<void>;
}

/** The journal in `journal.records`. Each writer has a connection of its own. */
export class PostgresJournal implements Journal {
  constructor(private readonly options: PostgresJournalOptions) {}

  /** Waits while another process has locked the shard, however long that takes. */
  async open(shard: number): Promise<JournalWriter> {
    const session = await this.begin(shard);
    return this.openOn(session, shard);
  }

  /**
   * From now on no other process opens the shard. The present writer may finish, then this process opens the shard. Later openers
   * wait until that writer is closed or loses its connection.
   */
  async keep(shard: number): Promise<KeptShard> {
    const session = await this.begin(shard);
    try {
      await keepShard(session, { family: this.options.family, shard }, this.openWithinMillis);
    } catch (error) {
      session.destroy();
      throw cannotOpen(shard, error);
    }
    return { open: () => this.openOn(session, shard), letGo: () => session.end() };
  }

  private async begin(shard: number): Promise<Session> {
    try {
      return await this.connect(this.openWithinMillis);
    } catch (error) {
      throw cannotOpen(shard, error);
    }
  }

  private async openOn(session: Session, shard: number): Promise<JournalWriter> {
    try {
      const head = await this.take(session, shard);
      return new GroupCommitWriter(shard, head, this.sinkOf(shard, head.epoch, session));
    } catch (error) {
      session.destroy();
      throw cannotOpen(shard, error);
    }
  }

  private async take(session: Session, shard: number): Promise<JournalHead> {
    const { family, opener, clock, seals } = this.options;
    for (;;) {
      const head = await takeShard(session, { family, shard, opener, seals }, this.openWithinMillis);
      if (head !== undefined) return head;
      await pause(clock, KEPT_MILLIS);
    }
  }

  private get openWithinMillis(): number {
    return this.options.openWithinMillis ?? OPEN_WITHIN_MILLIS;
  }

  private sinkOf(shard: number, epoch: number, session: Session): PostgresSink {
    const { family, clock, seals, appendWithinMillis, settleWithinMillis } = this.options;
    return new PostgresSink(
      { family, shard, epoch, seals },
      session,
      appendWithinMillis ?? APPEND_WITHIN_MILLIS,
      {
        family,
        connect: (withinMillis) => this.connect(withinMillis),
        clock,
        withinMillis: settleWithinMillis ?? SETTLE_WITHIN_MILLIS,
      },
    );
  }

  private connect(withinMillis: number): Promise<Session> {
    return Session.connect(this.options.url, this.options.clock, withinMillis);
  }
}

function cannotOpen(shard: number, error: unknown): Error {
  if (error instanceof StartFault) return error;
  return new JournalUnavailable(shard, `it cannot be opened: ${messageOf(error)}`, { cause: error });
}
