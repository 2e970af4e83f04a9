import type { JournalEntry, JournalReader } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';
import { GROUP_BYTES, GROUP_RECORDS } from '../limits.js';
import type { JournalReceiver } from '../stores/journal-receiver.js';

const PAGE = 4 * GROUP_RECORDS;

/** Puts behind what is there already whatever is missing of the shard; resolves with the number of records that are there now. */
export async function copyShard(
  shard: number,
  from: JournalReader,
  to: JournalReceiver,
  tell: (copied: number) => void = () => undefined,
): Promise<number> {
  let { sequence: copied } = await checkIsCopy(shard, from, to);
  for (;;) {
    const page = await from.read(shard, copied + 1, PAGE);
    if (page.length === 0) return copied;
    for (const batch of batchesOf(page)) {
      await to.receive(shard, batch);
      copied += batch.length;
      tell(copied);
    }
  }
}

/** An earlier copy of this journal may be gone on with; anything else must not be mixed with it. Resolves with where that ends. */
export async function checkIsCopy(
  shard: number,
  from: JournalReader,
  to: Pick<JournalReceiver, 'head'>,
): Promise<Pick<JournalEntry, 'sequence' | 'hash'>> {
  const end = await to.head(shard);
  if (end.sequence === 0) return end;
  const [entry] = await from.read(shard, end.sequence, 1);
  if (entry?.hash === end.hash) return end;
  throw new JournalCorrupt(
    shard,
    end.sequence,
    'where it is to be copied to, another record stands there already',
  );
}

/** Each small enough for one write of either kind of store. */
function batchesOf(entries: readonly JournalEntry[]): JournalEntry[][] {
  const batches: JournalEntry[][] = [];
  let bytes = Infinity;
  for (const entry of entries) {
    const size = Buffer.byteLength(entry.payload);
    const last = batches.at(-1);
    if (last === undefined || last.length === GROUP_RECORDS || bytes + size > GROUP_BYTES) {
      batches.push([entry]);
      bytes = size;
    } else {
      last.push(entry);
      bytes += size;
    }
  }
  return batches;
}
