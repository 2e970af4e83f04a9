import type { JournalEntry, JournalReader } from '../journal.js';

/** The first sequence at which two copies differ. */
export interface Difference {
  readonly sequence: number;
  readonly in: 'record' | 'seal';
  /** Which of the two has a MAC there. */
  readonly sealed: { readonly one: boolean; readonly other: boolean };
}

/** As far as both reach. */
export interface Agreement {
  /** Records that both have, alike from the first to the last. */
  readonly alike: number;
  readonly differs: Difference | undefined;
}

export interface Comparison extends Agreement {
  /** Records at the end that only one of them has. */
  readonly surplus: { readonly one: number; readonly other: number };
}

/** The maximum that a reader accepts. */
export type Pages = Pick<JournalReader, 'read'>;
type ProgressListener = (alike: number) => void;

const PAGE = 2_000;

/** Compares two copies of a shard's journal record by record, after the part known to be equal. Throws a JournalCorrupt for damage in either. */
export async function compareShard(
  shard: number,
  one: Pages,
  other: Pages,
  tell?: ProgressListener,
  after = 0,
): Promise<Comparison> {
  const agreement = await agree(shard, one, other, tell, after);
  const { alike, differs } = agreement;
  if (differs !== undefined) return { ...agreement, surplus: { one: 0, other: 0 } };
  const surplus = { one: await rest(shard, one, alike), other: await rest(shard, other, alike) };
  return { ...agreement, surplus };
}

/** Reads no further than the shorter one. */
export async function agree(
  shard: number,
  one: Pages,
  other: Pages,
  tell: ProgressListener = () => undefined,
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
    tell(alike);
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

/** Reads page by page: `heads()` asks for all shards at once, and another shard may not reply. */
async function rest(shard: number, reader: Pages, from: number): Promise<number> {
  for (let last = from; ;) {
    const page = await reader.read(shard, last + 1, PAGE);
    if (page.length === 0) return last - from;
    last += page.length;
  }
}
