import type { BareReader, JournalEntry, UncheckedRecord } from '#libs/journal/journal.js';
import { type JournalCorrupt, JournalUnreadable } from '#libs/journal/journal-errors.js';
import { visibleJson } from '#libs/platform/terminal/visible-text.js';
import type { DumpFilter } from './call.js';
import { soundPage } from './walk-shard.js';

const PAGE = 1_000;
/** How many records are shown from the damage on. */
const SHOWN = 1_000;

/** The fields of an event that filters compare. */
interface EventFields {
  readonly type?: unknown;
  readonly auction_id?: unknown;
}

/** Resolves when the text is written; with false if the reader has closed the pipe, as `| head` does. */
type Output = (text: string) => Promise<boolean>;

interface Dump {
  readonly reader: BareReader;
  readonly filter: DumpFilter;
  readonly output: Output;
  readonly onTrouble: (trouble: JournalCorrupt | JournalUnreadable) => void;
  readonly closed: AbortController;
}

/** The result for a shard, or the worst of several. */
export type DumpEnd = 'sound' | 'unread' | 'damaged';
const BY_WEIGHT: readonly DumpEnd[] = ['damaged', 'unread', 'sound'];

/**
 * Writes the records that pass the filter, and ends early if the reader closes the pipe. A damaged shard is written up to the
 * damage, then its records from there on, marked as damaged. The other shards are written as always.
 */
export async function dump(
  reader: BareReader,
  shards: readonly number[],
  filter: DumpFilter,
  output: Output,
  onTrouble: Dump['onTrouble'],
): Promise<DumpEnd> {
  const closed = new AbortController();
  const ends: DumpEnd[] = [];
  for (const shard of shards) {
    ends.push(await dumpShard({ reader, filter, output, onTrouble, closed }, shard));
  }
  return BY_WEIGHT.find((end) => ends.includes(end)) ?? 'sound';
}

async function dumpShard(dumped: Dump, shard: number): Promise<DumpEnd> {
  const { reader, filter, onTrouble, closed } = dumped;
  let end: DumpEnd = 'sound';
  try {
    for (let next = filter.from; next <= filter.to && !closed.signal.aborted;) {
      const limit = Math.min(PAGE, filter.to - next + 1);
      const { page, damage } = await soundPage(reader, shard, next, limit);
      if (damage !== undefined) {
        end = 'damaged';
        onTrouble(damage);
        await write(dumped, await damagedLines(reader, { shard, next, damage }, filter));
      }
      const last = page.at(-1);
      if (last === undefined) break;
      await write(
        dumped,
        page.flatMap((entry) => lineOf(entry, filter) ?? []),
      );
      next = last.sequence + 1;
    }
  } catch (error) {
    if (!(error instanceof JournalUnreadable)) throw error;
    onTrouble(error);
    return end === 'sound' ? 'unread' : end;
  }
  return end;
}

async function write({ output, closed }: Dump, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  const isOpen = await output(lines.map((line) => `${line}\n`).join(''));
  if (!isOpen) closed.abort();
}

/** Damaged records are shown only without a filter, because it is not known what they are. */
async function damagedLines(
  reader: BareReader,
  { shard, next, damage }: { readonly shard: number; readonly next: number; readonly damage: JournalCorrupt },
  { kind, type, auction, to, raw }: DumpFilter,
): Promise<string[]> {
  if ((kind ?? type ?? auction) !== undefined) return [];
  const found = await reader.unchecked(shard, next, SHOWN);
  return found
    .filter(({ sequence = 0 }) => sequence <= to)
    .map((record) => damagedLine(shard, record, damage, raw));
}

function damagedLine(
  shard: number,
  { offset, sequence, epoch, kind, hash, payload = '' }: UncheckedRecord,
  { message }: JournalCorrupt,
  raw: boolean,
): string {
  const content = raw ? payload : (parsed(payload) ?? payload);
  return visibleJson({ shard, damaged: message, offset, sequence, epoch, kind, hash, payload: content });
}

function lineOf(entry: JournalEntry, { kind, type, auction, raw }: DumpFilter): string | undefined {
  if (kind !== undefined && entry.kind !== kind) return undefined;
  const { shard, sequence, epoch, previousHash: previous_hash, hash, payload: text } = entry;
  const payload = parsed(text);
  if (type !== undefined && payload?.type !== type) return undefined;
  if (auction !== undefined && payload?.auction_id !== auction) return undefined;
  const content = raw || payload === undefined ? text : payload;
  return visibleJson({
    shard,
    sequence,
    epoch,
    kind: entry.kind,
    previous_hash,
    hash,
    payload: content,
  });
}

function parsed(payload: string): EventFields | undefined {
  try {
    const content = JSON.parse(payload) as unknown;
    return typeof content === 'object' && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}
