import pg from 'pg';
import { ArrayRoom } from '#libs/platform/database/binary-array.js';
import type { BatchSink } from '../group-commit-writer.js';
import type { JournalEntry } from '../journal.js';
import { JournalAmbiguous, JournalFenced, JournalUnavailable, messageOf } from '../journal-errors.js';
import type { JournalId } from '../journal-id.js';
import type { RecordMacs } from '../seals/record-macs.js';
import type { Session } from './session.js';
import { settle, type SettlementPorts } from './settlement.js';
import { type AppendRooms, appendStatement, confirmStatement } from './statements.js';

const UNIQUE_VIOLATION = '23505';
/** Long, because no data is at risk while it waits. */
const CONFIRM_WITHIN_MILLIS = 30_000;

/** Writes one shard's records into `journal.records` while the epoch is ours. */
export class PostgresSink implements BatchSink {
  private isWriting = false;
  private readonly rooms: AppendRooms = { hashes: new ArrayRoom(), payloads: new ArrayRoom() };

  constructor(
    private readonly of: JournalId & {
      readonly epoch: number;
      readonly seals: RecordMacs | undefined;
    },
    private session: Session,
    private readonly appendWithinMillis: number,
    private readonly settlement: SettlementPorts,
  ) {}

  fault(): Error | undefined {
    return this.session.fault;
  }

  async write(records: readonly JournalEntry[]): Promise<void> {
    this.isWriting = true;
    const inserted = await this.insert(records).finally(() => (this.isWriting = false));
    if (inserted === records.length) return;
    if (inserted === 0) throw new JournalFenced(this.of.shard, 'another writer has taken the shard');
    throw new JournalAmbiguous(this.of.shard, `${inserted} of ${records.length} records were inserted`);
  }

  async confirm(): Promise<void> {
    const { shard, epoch } = this.of;
    const { session: own, isWriting } = this;
    if (own.fault !== undefined) throw new JournalUnavailable(shard, own.fault.message, { cause: own.fault });
    // On the same connection the query would wait for the write.
    const session = isWriting ? await this.settlement.connect(CONFIRM_WITHIN_MILLIS) : own;
    const found = session.query(confirmStatement(this.of, epoch), CONFIRM_WITHIN_MILLIS);
    const { rowCount } = await found.finally(() => (session === own ? undefined : session.end()));
    if (rowCount === 0) throw new JournalFenced(shard, 'another writer has taken the shard');
  }

  close(): Promise<void> {
    return this.session.end();
  }

  private async insert(records: readonly JournalEntry[]): Promise<number> {
    const { fault } = this.session;
    if (fault !== undefined) throw new JournalUnavailable(this.of.shard, fault.message, { cause: fault });
    try {
      const result = await this.session.query(
        appendStatement(this.of.family, records, this.of.seals, this.rooms),
        this.appendWithinMillis,
      );
      return result.rowCount ?? 0;
    } catch (error) {
      if (isRefusal(error)) throw this.refused(error);
      this.session.destroy();
      const lost = error instanceof Error ? error : new Error(String(error));
      this.session = await settle(this.settlement, records, lost);
      return records.length;
    }
  }

  private refused(error: pg.DatabaseError): JournalFenced | JournalUnavailable {
    const cause = { cause: error };
    if (error.code === UNIQUE_VIOLATION) {
      return new JournalFenced(this.of.shard, 'another process has written after our head', cause);
    }
    return new JournalUnavailable(this.of.shard, messageOf(error), cause);
  }
}

/**
 * The server has replied that it rolled the statement back. Anything graver than ERROR ends the connection and leaves the
 * earlier outcome open; so does a severity in a language that we do not read.
 */
function isRefusal(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR';
}
