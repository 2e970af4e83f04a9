import { GroupQueue, type QueuedAppend } from './group-queue.js';
import { headAt, linkEvent } from './hash-chain.js';
import type { Appended, JournalEntry, JournalHead, JournalHealth, JournalWriter } from './journal.js';
import {
  JournalAmbiguous,
  JournalFailure,
  JournalFenced,
  JournalUnavailable,
  messageOf,
} from './journal-errors.js';
import { checkBatch } from './limits.js';

/** Where an adapter writes linked records. Receives one call at a time, in the order of the sequences. */
export interface BatchSink {
  /**
   * Writes at least one record, whole or not at all. Resolves when the records are durable and no other writer has the shard;
   * rejects with a JournalFailure otherwise, and is not called again after that.
   */
  write(records: readonly JournalEntry[]): Promise<void>;
  /** May run during a write. Resolves if no other writer has the shard; rejects with a JournalFenced if one has. */
  confirm(): Promise<void>;
  /** Why the next write cannot succeed, as far as is known without asking the store. */
  fault(): Error | undefined;
  /** Never rejects. */
  close(): Promise<void>;
}

/**
 * The writer that all adapters share. One write is in flight; later calls are linked into the chain at once and leave together
 * with the next write. Linking ahead is safe: a failed write ends the writer, and with it everything linked after that write.
 */
export class GroupCommitWriter implements JournalWriter {
  private readonly queue = new GroupQueue();
  /** The last linked record; `head` is the last durable one. */
  private tip: JournalHead;
  private durable: JournalHead;
  private draining: Promise<void> | undefined;
  private death: JournalFailure | undefined;
  private closing: Promise<void> | undefined;

  constructor(
    readonly shard: number,
    head: JournalHead,
    private readonly sink: BatchSink,
  ) {
    this.tip = head;
    this.durable = head;
  }

  get head(): JournalHead {
    return this.durable;
  }

  append(payloads: readonly string[]): Promise<Appended> {
    return new Promise((resolve, reject) => {
      if (this.death !== undefined) throw this.unsent(this.death);
      if (this.closing !== undefined) throw new JournalUnavailable(this.shard, 'the writer is closed');
      const bytes = checkBatch(payloads);
      this.queue.checkRoom(payloads.length, bytes);
      this.queue.push({ records: this.linkAll(payloads), bytes, resolve, reject });
      this.draining ??= this.drain();
    });
  }

  /** Runs during a write: a write that has to wait must not delay the reply. */
  async confirm(): Promise<void> {
    if (this.death !== undefined) throw this.death;
    if (this.closing !== undefined) throw new JournalUnavailable(this.shard, 'the writer is closed');
    try {
      await this.sink.confirm();
    } catch (error) {
      if (error instanceof JournalFenced) this.die(error, []);
      throw error instanceof JournalFailure ? error : this.unknownOutcome(error);
    }
  }

  health(): JournalHealth {
    const fault = this.death ?? this.sink.fault();
    if (fault !== undefined) return { ok: false, reason: fault.message };
    if (this.closing !== undefined) return { ok: false, reason: 'the writer is closed' };
    return { ok: true };
  }

  close(): Promise<void> {
    this.closing ??= (this.draining ?? Promise.resolve()).then(() => this.sink.close());
    return this.closing;
  }

  private linkAll(payloads: readonly string[]): JournalEntry[] {
    return payloads.map((payload) => {
      const entry = linkEvent(this.shard, this.tip, payload);
      this.tip = entry;
      return entry;
    });
  }

  private async drain(): Promise<void> {
    // Callers woken by the same write append again within the same turn: they join this one.
    await Promise.resolve();
    while (!this.queue.isEmpty) {
      const group = this.queue.takeGroup();
      try {
        await this.sink.write(group.flatMap((call) => call.records));
      } catch (error) {
        this.die(this.failureOf(error), group);
        break;
      }
      this.acknowledge(group);
    }
    this.draining = undefined;
  }

  private acknowledge(group: readonly QueuedAppend[]): void {
    for (const { records, resolve } of group) {
      const last = records.at(-1);
      if (last !== undefined) this.durable = headAt(last);
      resolve({ firstSequence: records[0]?.sequence ?? 0, hashes: records.map((record) => record.hash) });
    }
  }

  private die(death: JournalFailure, inFlight: readonly QueuedAppend[]): void {
    this.death ??= death;
    for (const call of inFlight) call.reject(death);
    for (const call of this.queue.takeAll()) call.reject(this.unsent(death));
    void this.close();
  }

  /** For queued calls: they were not written, whatever became of the write in flight. */
  private unsent(death: JournalFailure): JournalFailure {
    const Kind = death instanceof JournalFenced ? JournalFenced : JournalUnavailable;
    return new Kind(this.shard, 'the writer has ended, nothing was sent', { cause: death });
  }

  private unknownOutcome(error: unknown): JournalUnavailable {
    return new JournalUnavailable(this.shard, messageOf(error), { cause: error });
  }

  /** After an unforeseen failure it is unknown what the sink has written. */
  private failureOf(error: unknown): JournalFailure {
    if (error instanceof JournalFailure) return error;
    return new JournalAmbiguous(this.shard, messageOf(error), { cause: error });
  }
}
