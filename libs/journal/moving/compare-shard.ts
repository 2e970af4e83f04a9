import type { JournalReader } from '../journal.js';

export interface Comparison {
  /** Records that both have, alike from the first to the last. */
  readonly alike: number;
  /** The first sequence under which they have different records. */
  readonly differsAt: number | undefined;
  /** Records that only one of them has, behind those that both have. */
  readonly surplus: { readonly one: number; readonly other: number };
}

const PAGE = 2_000;

/** Holds two copies of a shard's journal against each other, record by record. Whatever is damaged in one is a JournalCorrupt. */
export async function compareShard(
  shard: number,
  one: JournalReader,
  other: JournalReader,
  tell: (alike: number) => void = () => undefined,
): Promise<Comparison> {
  let alike = 0;
  for (;;) {
    const [ours, theirs] = await Promise.all([
      one.read(shard, alike + 1, PAGE),
      other.read(shard, alike + 1, PAGE),
    ]);
    const both = Math.min(ours.length, theirs.length);
    // The hash covers all the rest, and each reader has recomputed its own.
    const odd = ours.findIndex((entry, index) => index < both && entry.hash !== theirs[index]?.hash);
    if (odd >= 0) return { alike: alike + odd, differsAt: alike + odd + 1, surplus: { one: 0, other: 0 } };
    alike += both;
    tell(alike);
    if (both < PAGE) {
      const surplus = { one: await rest(shard, one, alike), other: await rest(shard, other, alike) };
      return { alike, differsAt: undefined, surplus };
    }
  }
}

/** Read like the others: where the shards end is told of all at once, and another may not answer. */
async function rest(shard: number, reader: JournalReader, from: number): Promise<number> {
  for (let last = from; ;) {
    const page = await reader.read(shard, last + 1, PAGE);
    if (page.length === 0) return last - from;
    last += page.length;
  }
}
