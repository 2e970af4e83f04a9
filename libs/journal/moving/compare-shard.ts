import type { JournalEntry, JournalReader } from '../journal.js';

/** The first sequence at which two copies differ. */
export interface Difference {
  readonly sequence: number;
  readonly in: 'record' | 'seal';
  /** Which of the two has a MAC there. */
  readonly sealed: { readonly one: boolean; readonly other: boolean };
}

/** The result up to the end of the shorter copy. */
export interface Agreement {
  /** How many records are equal in both copies, from the first on. */
  readonly alike: number;
  readonly differs: Difference | undefined;
}

export interface Comparison extends Agreement {
  /** How many records only one of the copies has, at its end. */
  readonly surplus: { readonly one: number; readonly other: number };
}

/** The reader of one copy. */
export type Pages = Pick<JournalReader, 'read'>;
type ProgressListener = (alike: number) => void;

const PAGE = 2_000;

/**
 * Compares two copies of a shard's journal record by record, after the part known to be equal. Throws a JournalCorrupt if either
 * copy is damaged.
 */
export async function compareShard(
  shard: number,
  one: Pages,
  other: Pages,
  onProgress?: ProgressListener,
  after = 0,
): Promise<Comparison> {
  const agreement = await agree(shard, one, other, onProgress, after);
  const { alike, differs } = agreement;
  if (differs !== undefined) return { ...agreement, surplus: { one: 0, other: 0 } };
  const surplus = { one: await countAfter(shard, one, alike), other: await countAfter(shard, other, alike) };
  return { ...agreement, surplus };
}

/** Compares up to the end of the shorter copy. */
export async function agree(
  shard: number,
  one: Pages,
  other: Pages,
  onProgress: ProgressListener = () => undefined,
  after = 0,
): Promise<Agreement> {
  let alike = after;
  for (;;) {
    const [ours, theirs] = await Promise.all([
      one.read(shard, alike + 1, PAGE),
      other.read(shard, alike + 1, PAGE),
    ]);
    const both = Math.min(ours.length, theirs.length);
    for (const [index, entry] of ours.slice(0, both).entries()) {
      const differs = differenceOf(entry, theirs[index]);
      if (differs !== undefined) return { alike: alike + index, differs };
    }
    alike += both;
    onProgress(alike);
    if (both < PAGE) return { alike, differs: undefined };
  }
}

/**
 * A record's hash covers its content, and each reader has recomputed it. The MAC is compared as well: no owner continues a copy that
 * has lost it.
 */
function differenceOf(ours: JournalEntry, theirs: JournalEntry | undefined): Difference | undefined {
  const { sequence, hash, seal } = ours;
  const sealed = { one: seal !== undefined, other: theirs?.seal !== undefined };
  if (hash !== theirs?.hash) return { sequence, in: 'record', sealed };
  const isSame = seal === undefined ? !sealed.other : theirs.seal?.equals(seal);
  return isSame === true ? undefined : { sequence, in: 'seal', sealed };
}

/** Counts the records after `from`, page by page: `heads()` asks for all shards, and another shard may not reply. */
async function countAfter(shard: number, reader: Pages, from: number): Promise<number> {
  for (let last = from; ;) {
    const page = await reader.read(shard, last + 1, PAGE);
    if (page.length === 0) return last - from;
    last += page.length;
  }
}
