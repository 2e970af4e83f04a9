import type { Appended, JournalEntry } from './journal.js';
import { JournalRefused } from './journal-errors.js';
import { GROUP_BYTES, GROUP_RECORDS, MAX_QUEUED_BYTES, MAX_QUEUED_RECORDS } from './limits.js';

/** One append in flight. Its records are linked already, so its position in the queue cannot change. */
export interface QueuedAppend {
  readonly records: readonly JournalEntry[];
  readonly bytes: number;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: Error) => void;
}

/** Calls that wait for the write in flight. They leave together with the next one. */
export class GroupQueue {
  private calls: QueuedAppend[] = [];
  private records = 0;
  private bytes = 0;

  get isEmpty(): boolean {
    return this.calls.length === 0;
  }

  checkRoom(records: number, bytes: number): void {
    if (this.records + records > MAX_QUEUED_RECORDS || this.bytes + bytes > MAX_QUEUED_BYTES) {
      throw new JournalRefused(`${this.records} records of ${this.bytes} bytes are waiting already`);
    }
  }

  push(call: QueuedAppend): void {
    this.calls.push(call);
    this.count(call, 1);
  }

  /** The calls of the next write: at least one, and each of them whole. */
  takeGroup(): QueuedAppend[] {
    let records = 0;
    let bytes = 0;
    const end = this.calls.findIndex((call) => {
      records += call.records.length;
      bytes += call.bytes;
      return records > GROUP_RECORDS || bytes > GROUP_BYTES;
    });
    const group = end < 0 ? this.takeAll() : this.calls.splice(0, Math.max(1, end));
    if (end >= 0) for (const call of group) this.count(call, -1);
    return group;
  }

  takeAll(): QueuedAppend[] {
    const all = this.calls;
    this.calls = [];
    this.records = 0;
    this.bytes = 0;
    return all;
  }

  private count(call: QueuedAppend, sign: 1 | -1): void {
    this.records += sign * call.records.length;
    this.bytes += sign * call.bytes;
  }
}
