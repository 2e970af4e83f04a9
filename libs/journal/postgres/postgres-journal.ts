import type { Clock } from '#libs/platform/clock.js';
import { GroupCommitWriter } from '../group-commit-writer.js';
import type { Journal, JournalWriter } from '../journal.js';
import { JournalCorrupt, JournalUnavailable, messageOf } from '../journal-errors.js';
import { PostgresSink } from './postgres-sink.js';
import { Session } from './session.js';
import { takeShard } from './take-shard.js';

const OPEN_WITHIN_MILLIS = 10_000;
const APPEND_WITHIN_MILLIS = 5_000;
const SETTLE_WITHIN_MILLIS = 10_000;

export interface PostgresJournalOptions {
  readonly url: string;
  readonly clock: Clock;
  /** Who opens: stands in the epoch records. */
  readonly opener: string;
  readonly openWithinMillis?: number;
  /** After this long without an answer the connection is given up and the outcome looked up on another. */
  readonly appendWithinMillis?: number;
  readonly settleWithinMillis?: number;
}

/** The journal in `journal.records`. Each writer has a connection of its own. */
export class PostgresJournal implements Journal {
  constructor(private readonly options: PostgresJournalOptions) {}

  async open(shard: number): Promise<JournalWriter> {
    const within = this.options.openWithinMillis ?? OPEN_WITHIN_MILLIS;
    let session: Session | undefined;
    try {
      session = await this.connect(within);
      const head = await takeShard(session, shard, this.options.opener, within);
      return new GroupCommitWriter(shard, head, this.sinkOf(shard, session));
    } catch (error) {
      session?.destroy();
      if (error instanceof JournalCorrupt) throw error;
      throw new JournalUnavailable(shard, `it cannot be opened: ${messageOf(error)}`, { cause: error });
    }
  }

  private sinkOf(shard: number, session: Session): PostgresSink {
    const { clock, appendWithinMillis, settleWithinMillis } = this.options;
    return new PostgresSink(shard, session, appendWithinMillis ?? APPEND_WITHIN_MILLIS, {
      connect: (withinMillis) => this.connect(withinMillis),
      clock,
      withinMillis: settleWithinMillis ?? SETTLE_WITHIN_MILLIS,
    });
  }

  private connect(withinMillis: number): Promise<Session> {
    return Session.connect(this.options.url, this.options.clock, withinMillis);
  }
}
