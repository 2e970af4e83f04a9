import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { StoredRecord } from '#libs/journal/chain-check.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import { JournalUnreadable, type JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalStore } from '#libs/journal/stores/journal-store.js';
import type { DumpFilter } from './call.js';
import { soundPage } from './sound-page.js';

const PAGE = 1_000;
/** Of one shard: where so many records are not sound, no more of them says anything new. */
const MOST_MARKED = 100;

/** What a filter looks at in a payload that is an event. */
interface Told {
  readonly type?: unknown;
  readonly auction_id?: unknown;
}

type Shown = Omit<StoredRecord, 'seal'> & {
  readonly shard: number;
  /** Undefined where it is not known what the record would have to follow. */
  readonly previousHash?: string;
  /** Why it is not sound. */
  readonly damage?: string;
};

interface Dump {
  readonly store: Pick<JournalStore, 'bareReader' | 'asStored'>;
  readonly filter: DumpFilter;
  readonly output: Writable;
  readonly onTrouble: (trouble: JournalCorrupt | JournalUnreadable) => void;
  /** Aborted when nobody takes lines any more: `| head` closes the pipe. */
  readonly gone: AbortSignal;
}

/** What became of a shard, or of the worst of them. */
export type DumpEnd = 'sound' | 'unread' | 'damaged';
const BY_WEIGHT: readonly DumpEnd[] = ['damaged', 'unread', 'sound'];

/**
 * Writes the records that the filter lets through, as fast as they are taken; ends early when nobody takes them any more. A damaged
 * shard is written up to where it is sound, and the others as always: that is when one wants to look. Whoever asks for what stands from
 * some record on is shown it, sound or not, as far as the store can show what is not; that is marked.
 */
export async function dump(
  store: Dump['store'],
  shards: readonly number[],
  filter: DumpFilter,
  output: Writable,
  onTrouble: Dump['onTrouble'],
): Promise<DumpEnd> {
  const gone = new AbortController();
  output.on('error', () => gone.abort());
  const ends: DumpEnd[] = [];
  for (const shard of shards) {
    ends.push(await dumpShard({ store, filter, output, onTrouble, gone: gone.signal }, shard));
  }
  return BY_WEIGHT.find((end) => ends.includes(end)) ?? 'sound';
}

async function dumpShard(dumped: Dump, shard: number): Promise<DumpEnd> {
  const { store, filter, onTrouble, gone } = dumped;
  let marked = 0;
  try {
    for (let next = filter.from; next <= filter.to && !gone.aborted;) {
      const limit = Math.min(PAGE, filter.to - next + 1);
      const { page, damage } = await soundPage(store.bareReader, shard, next, limit);
      const last = page.at(-1);
      if (last !== undefined) {
        await write(dumped, page);
        next = last.sequence + 1;
        continue;
      }
      if (damage === undefined) break;
      onTrouble(damage);
      const isAsked = filter.from > 1 && marked < MOST_MARKED;
      marked += 1;
      const stored = isAsked ? await store.asStored(shard, next) : undefined;
      if (stored === undefined || stored.sequence > filter.to) break;
      await write(dumped, [{ ...stored, shard, damage: damage.message }]);
      next = stored.sequence + 1;
    }
  } catch (error) {
    if (!(error instanceof JournalUnreadable)) throw error;
    onTrouble(error);
    return marked > 0 ? 'damaged' : 'unread';
  }
  return marked > 0 ? 'damaged' : 'sound';
}

async function write(
  { filter, output, gone }: Dump,
  records: readonly (JournalEntry | Shown)[],
): Promise<void> {
  const lines = records.flatMap((record) => lineOf(record, filter) ?? []);
  if (output.write(lines.map((line) => `${line}\n`).join('')) || gone.aborted) return;
  await once(output, 'drain', { signal: gone }).catch((error: unknown) => {
    if (!gone.aborted) throw error;
  });
}

function lineOf(record: Shown, { kind, type, auction, raw }: DumpFilter): string | undefined {
  if (kind !== undefined && record.kind !== kind) return undefined;
  const { shard, sequence, epoch, previousHash: previous_hash, hash, payload: text, damage } = record;
  const payload = parsed(text);
  if (type !== undefined && payload?.type !== type) return undefined;
  if (auction !== undefined && payload?.auction_id !== auction) return undefined;
  const content = raw || payload === undefined ? text : payload;
  return JSON.stringify({
    shard,
    sequence,
    epoch,
    kind: record.kind,
    previous_hash,
    hash,
    payload: content,
    damage,
  });
}

function parsed(payload: string): Told | undefined {
  try {
    const content = JSON.parse(payload) as unknown;
    return typeof content === 'object' && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}
