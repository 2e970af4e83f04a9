import type { JournalEntry, JournalReader } from '../journal.js';
import { GROUP_BYTES, GROUP_RECORDS } from '../limits.js';
import type { JournalReceiver } from '../stores/journal-store.js';

const PAGE = 4 * GROUP_RECORDS;

/** Appends the records that a partial copy of the shard lacks. Resolves with the total number of records. */
export async function copyShard(
  shard: number,
  from: JournalReader,
  to: JournalReceiver,
  onProgress: (copied: number) => void = () => undefined,
): Promise<number> {
  let { sequence: copied } = await to.head(shard);
  for (;;) {
    const page = await from.read(shard, copied + 1, PAGE);
    if (page.length === 0) return copied;
    for (const batch of batchesOf(page)) {
      await to.receive(shard, batch);
      copied += batch.length;
      onProgress(copied);
    }
  }
}

/** Batches that fit into one write of either store. */
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
