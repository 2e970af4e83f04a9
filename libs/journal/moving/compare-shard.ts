import type { JournalEntry, JournalReader } from '../journal.js';

export interface Comparison {
  /** The last record up to which both have the same. */
  readonly alike: number;
  readonly difference: Difference | undefined;
  /** Records that only one of them has, behind those that both have. */
  readonly surplus: { readonly one: number; readonly other: number };
}

/** The first record that is another in the other copy, or the same with another seal or none. */
export interface Difference {
  readonly sequence: number;
  readonly in: 'record' | 'seal';
}

/** Which part of a shard is compared. */
export interface Span {
  readonly behind: number;
  readonly upTo: number;
}

const PAGE = 2_000;
const ALL: Span = { behind: 0, upTo: Infinity };
const NONE = { one: 0, other: 0 };

/** Holds two copies of a shard's journal against each other, record by record. Whatever is damaged in one is a JournalCorrupt. */
export async function compareShard(
  shard: number,
  one: JournalReader,
  other: JournalReader,
  tell: (alike: number) => void = () => undefined,
  { behind, upTo }: Span = ALL,
): Promise<Comparison> {
  let alike = behind;
  for (;;) {
    const limit = Math.min(PAGE, upTo - alike);
    if (limit <= 0) return { alike, difference: undefined, surplus: NONE };
    const [ours, theirs] = await Promise.all([
      one.read(shard, alike + 1, limit),
      other.read(shard, alike + 1, limit),
    ]);
    const both = Math.min(ours.length, theirs.length);
    const difference = firstDifference(ours.slice(0, both), theirs);
    if (difference !== undefined) return { alike: difference.sequence - 1, difference, surplus: NONE };
    alike += both;
    tell(alike);
    if (both < limit) {
      const surplus = { one: await rest(shard, one, alike), other: await rest(shard, other, alike) };
      return { alike, difference: undefined, surplus };
    }
  }
}

function firstDifference(
  ours: readonly JournalEntry[],
  theirs: readonly JournalEntry[],
): Difference | undefined {
  for (const [index, entry] of ours.entries()) {
    const { sequence } = entry;
    const found = theirs[index];
    // The hash covers all the rest but the seal, and each reader has recomputed its own.
    if (entry.hash !== found?.hash) return { sequence, in: 'record' };
    if (!isSameSeal(entry.seal, found.seal)) return { sequence, in: 'seal' };
  }
  return undefined;
}

function isSameSeal(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

/** Read like the others: where the shards end is told of all at once, and another may not answer. */
async function rest(shard: number, reader: JournalReader, from: number): Promise<number> {
  for (let last = from; ;) {
    const page = await reader.read(shard, last + 1, PAGE);
    if (page.length === 0) return last - from;
    last += page.length;
  }
}
