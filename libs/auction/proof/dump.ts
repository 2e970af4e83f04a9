import type { BareReader, JournalEntry, UncheckedRecord } from '#libs/journal/journal.js';
import { type JournalCorrupt, JournalUnreadable } from '#libs/journal/journal-errors.js';
import { visibleJson } from '#libs/platform/terminal/visible-text.js';
import type { DumpFilter } from './call.js';
import { soundPage } from './walk-shard.js';

const PAGE = 1_000;
/** Of what stands from damage on. */
const SHOWN = 1_000;

/** What a filter looks at in a payload that is an event. */
interface Told {
  readonly type?: unknown;
  readonly auction_id?: unknown;
}

/** Resolves when the text is taken, with false when nobody takes any more: `| head` closes the pipe. */
type Output = (text: string) => Promise<boolean>;

interface Dump {
  readonly reader: BareReader;
  readonly filter: DumpFilter;
  readonly output: Output;
  readonly onTrouble: (trouble: JournalCorrupt | JournalUnreadable) => void;
  readonly gone: AbortController;
}

/** What became of a shard, or of the worst of them. */
export type DumpEnd = 'sound' | 'unread' | 'damaged';
const BY_WEIGHT: readonly DumpEnd[] = ['damaged', 'unread', 'sound'];

/**
 * Writes the records that the filter lets through, as fast as they are taken; ends early when nobody takes them any more. A damaged shard
 * is written up to where it is sound, then what stands there instead, marked, and the others as always: that is when one wants to look.
 */
export async function dump(
  reader: BareReader,
  shards: readonly number[],
  filter: DumpFilter,
  output: Output,
  onTrouble: Dump['onTrouble'],
): Promise<DumpEnd> {
  const gone = new AbortController();
  const ends: DumpEnd[] = [];
  for (const shard of shards) {
    ends.push(await dumpShard({ reader, filter, output, onTrouble, gone }, shard));
  }
  return BY_WEIGHT.find((end) => ends.includes(end)) ?? 'sound';
}

async function dumpShard(dumped: Dump, shard: number): Promise<DumpEnd> {
  const { reader, filter, onTrouble, gone } = dumped;
  let end: DumpEnd = 'sound';
  try {
    for (let next = filter.from; next <= filter.to && !gone.signal.aborted;) {
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

async function write({ output, gone }: Dump, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  const isTaken = await output(lines.map((line) => `${line}\n`).join(''));
  if (!isTaken) gone.abort();
}

/** Whoever looks at damage wants to see it; a filter asks for certain records, and what these are nobody knows. */
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

function parsed(payload: string): Told | undefined {
  try {
    const content = JSON.parse(payload) as unknown;
    return typeof content === 'object' && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}
