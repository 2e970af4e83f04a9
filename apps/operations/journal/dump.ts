import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';
import type { DumpFilter } from './call.js';

const PAGE = 1_000;

/** What a filter looks at in a payload that is an event. */
interface Told {
  readonly type?: unknown;
  readonly auction_id?: unknown;
}

/** Writes the records that the filter lets through, as fast as they are taken; resolves early when nobody takes them any more. */
export async function dump(
  reader: JournalReader,
  shards: readonly number[],
  filter: DumpFilter,
  output: Writable,
): Promise<void> {
  const gone = new AbortController();
  // Whoever reads may have seen enough: `| head` closes the pipe.
  output.on('error', () => gone.abort());
  for (const shard of shards) {
    let next = filter.from;
    while (next <= filter.to && !gone.signal.aborted) {
      const page = await reader.read(shard, next, Math.min(PAGE, filter.to - next + 1));
      if (page.length === 0) break;
      next += page.length;
      const lines = page.flatMap((entry) => lineOf(entry, filter) ?? []);
      if (!output.write(lines.map((line) => `${line}\n`).join(''))) await drained(output, gone.signal);
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
