import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';
import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { DumpFilter } from './call.js';

const PAGE = 1_000;

/** What a filter looks at in a payload that is an event. */
interface Told {
  readonly type?: unknown;
  readonly auction_id?: unknown;
}

/** As much as there is before the damage; `damage` where that is nothing. */
interface Sound {
  readonly page: readonly JournalEntry[];
  readonly damage?: JournalCorrupt;
}

/**
 * Writes the records that the filter lets through, as fast as they are taken; resolves early when nobody takes them any more. A damaged
 * shard is written up to where it is sound, and the others as always: that is when one wants to look. Resolves with whether all were
 * sound as far as they were read.
 */
export async function dump(
  reader: JournalReader,
  shards: readonly number[],
  filter: DumpFilter,
  output: Writable,
  onDamage: (damage: JournalCorrupt) => void,
): Promise<boolean> {
  const gone = new AbortController();
  let allSound = true;
  // Whoever reads may have seen enough: `| head` closes the pipe.
  output.on('error', () => gone.abort());
  for (const shard of shards) {
    let next = filter.from;
    while (next <= filter.to && !gone.signal.aborted) {
      const { page, damage } = await soundPage(reader, shard, next, Math.min(PAGE, filter.to - next + 1));
      if (damage !== undefined) {
        onDamage(damage);
        allSound = false;
      }
      if (page.length === 0) break;
      next += page.length;
      const lines = page.flatMap((entry) => lineOf(entry, filter) ?? []);
      if (!output.write(lines.map((line) => `${line}\n`).join(''))) await drained(output, gone.signal);
    }
  }
  return allSound;
}

/** Readers give a page whole or not at all: where it cannot be had, what stands before the damage that they name. */
async function soundPage(reader: JournalReader, shard: number, from: number, limit: number): Promise<Sound> {
  for (let wanted = limit; ;) {
    try {
      return { page: await reader.read(shard, from, wanted) };
    } catch (error) {
      if (!(error instanceof JournalCorrupt)) throw error;
      if (wanted <= 1) return { page: [], damage: error };
      // Damage may be named by a record before it, such as one that appears again: then the place is closed in on.
      const before = error.sequence - from;
      wanted = before > 0 && before < wanted ? before : Math.floor(wanted / 2);
    }
  }
}

async function drained(output: Writable, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await once(output, 'drain', { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

function lineOf(entry: JournalEntry, { kind, type, auction, raw }: DumpFilter): string | undefined {
  if (kind !== undefined && entry.kind !== kind) return undefined;
  const { shard, sequence, epoch, previousHash: previous_hash, hash, payload: text } = entry;
  const payload = parsed(text);
  if (type !== undefined && payload?.type !== type) return undefined;
  if (auction !== undefined && payload?.auction_id !== auction) return undefined;
  const content = raw || payload === undefined ? text : payload;
  return JSON.stringify({
    shard,
    sequence,
    epoch,
    kind: entry.kind,
    previous_hash,
    hash,
    payload: content,
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
