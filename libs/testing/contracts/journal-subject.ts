import { pause, type Clock } from '../../platform/time/clock.js';
import type { Journal, JournalEntry, JournalReader } from '../../journal/journal.js';

/** A change of a stored record that bypasses the journal. */
export type Tampering =
  'removed' | Partial<Pick<JournalEntry, 'sequence' | 'epoch' | 'kind' | 'payload' | 'hash'>>;

/** Faults of the connection to the store, during the next append of a shard's writer. */
export interface JournalFaults {
  /** The append arrives, but its reply does not. Later requests are answered. */
  loseAnswer(shard: number): void;
  /** The append never arrives. Later requests are answered. */
  loseAppend(shard: number): void;
  /** The append may or may not arrive, and no request is answered until heal(). */
  isolate(shard: number): void;
  /** Every connection breaks at once. New connections work. */
  cut(shard: number): void;
  heal(): void;
}

/** An adapter under test, with journals of the family `auction`. */
export interface JournalSubject {
  /** The journal as a process called `opener` uses it. */
  journalOf(opener: string): Journal;
  readonly reader: JournalReader;
  readonly faults: JournalFaults;
  tamper(shard: number, sequence: number, tampering: Tampering): Promise<void>;
  /** The family `execution` in the same store, as a process called `ada` uses it. */
  readonly other: { readonly journal: Journal; readonly reader: JournalReader };
  /** Copies the records of a shard to the same shard of the other family. */
  giveToOther(shard: number): Promise<void>;
  dispose(): Promise<void>;
}

let lastShard = 0;

/** A shard that no other test has used. */
export function freshShard(): number {
  lastShard += 1;
  return lastShard;
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

export async function everything(reader: JournalReader, shard: number): Promise<JournalEntry[]> {
  const all: JournalEntry[] = [];
  for (;;) {
    const page = await reader.read(shard, all.length + 1, 1_000);
    if (page.length === 0) return all;
    all.push(...page);
  }
}

export async function events(reader: JournalReader, shard: number): Promise<string[]> {
  const all = await everything(reader, shard);
  return all.filter(({ kind }) => kind === 'event').map(({ payload }) => payload);
}

/** Waits for a condition that becomes true elsewhere, and fails after a while. */
export async function until(clock: Clock, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < 800; look += 1) {
    if (await isSo()) return;
    await pause(clock, 5);
  }
  throw new Error('the condition did not become true in time');
}
