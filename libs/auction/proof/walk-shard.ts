import { beforeFirst, headAt } from '#libs/journal/hash-chain.js';
import type { JournalEntry, JournalHead, JournalReader } from '#libs/journal/journal.js';
import { JournalCorrupt, JournalUnreadable } from '#libs/journal/journal-errors.js';
import type { JournalId } from '#libs/journal/journal-id.js';
import { differenceFrom, epochLackOf, lackOf, type Mark } from './marks.js';

export interface Walk {
  readonly shard: number;
  readonly records: number;
  readonly epochs: number;
  readonly head: JournalHead;
  /** What is wrong with the journal; empty if it is complete and unchanged. */
  readonly faults: readonly string[];
  /** Whether the journal was read to its end. Otherwise nothing can be said about the end. */
  readonly isRead: boolean;
  /** Why the rest could not be read; undefined if it could. */
  readonly unread: string | undefined;
}

export interface WalkPorts {
  readonly reader: JournalReader;
  /** Known records of the shard, in the order of their sequences. Read before the walk, so the journal must reach as far. */
  readonly marks: readonly Mark[];
  readonly reservingEpoch: number;
  readonly tell: (read: number) => void;
  /** Called with every page of records. */
  readonly onEntries: (entries: readonly JournalEntry[]) => void;
  /** Called after each page. Its errors are not faults of the journal. */
  readonly onPage?: () => Promise<void>;
}

const PAGE = 4_000;
/** Reads a shard from its first record to its last, or to the first damage. */
export async function walkShard({ family, shard }: JournalId, ports: WalkPorts): Promise<Walk> {
  let head = beforeFirst(family);
  let epochs = 0;
  const faults: string[] = [];
  const remaining = [...ports.marks];
  let unread: string | undefined;
  let isRead = false;
  try {
    for (;;) {
      const { page, damage } = await soundPage(ports.reader, shard, head.sequence + 1, PAGE);
      if (damage !== undefined) throw damage;
      const last = page.at(-1);
      if (last === undefined) break;
      if (page[0]?.previousHash !== head.hash) {
        throw new JournalCorrupt(shard, head.sequence + 1, 'it was rewritten while it was read');
      }
      epochs += page.filter(({ kind }) => kind === 'epoch').length;
      while (remaining[0] !== undefined && remaining[0].sequence <= last.sequence) {
        const fault = faultOf(remaining.shift(), page);
        if (fault !== undefined) faults.push(fault);
      }
      ports.onEntries(page);
      await ports.onPage?.();
      head = headAt(last);
      ports.tell(head.sequence);
    }
    isRead = true;
    faults.push(...remaining.map((referenced) => lackOf(referenced, head.sequence)));
    if (ports.reservingEpoch > head.epoch) {
      faults.push(epochLackOf(head.epoch, ports.reservingEpoch));
    }
  } catch (error) {
    if (error instanceof JournalCorrupt) faults.push(error.message);
    else if (error instanceof JournalUnreadable) unread = error.message;
    else throw error;
  }
  return { shard, records: head.sequence, epochs, head, faults, isRead, unread };
}

function faultOf(referenced: Mark | undefined, page: readonly JournalEntry[]): string | undefined {
  const [first] = page;
  if (referenced === undefined || first === undefined) return undefined;
  const { sequence, hash } = referenced;
  return page[sequence - first.sequence]?.hash === hash ? undefined : differenceFrom(referenced);
}

/** The records before the damage. `damage` is set if there are none. */
export interface SoundPage {
  readonly page: readonly JournalEntry[];
  readonly damage?: JournalCorrupt;
}

/** Readers return a whole page or none. If a page is damaged, this returns the records before the first damage. */
export async function soundPage(
  reader: JournalReader,
  shard: number,
  from: number,
  limit: number,
): Promise<SoundPage> {
  for (let wanted = limit; ;) {
    try {
      return { page: await reader.read(shard, from, wanted) };
    } catch (error) {
      if (!(error instanceof JournalCorrupt)) throw error;
      if (wanted <= 1) return { page: [], damage: error };
      // The error may name an earlier record, such as one that is repeated. Then the range is halved until it has no damage.
      const before = error.sequence - from;
      wanted = before > 0 && before < wanted ? before : Math.floor(wanted / 2);
    }
  }
}
