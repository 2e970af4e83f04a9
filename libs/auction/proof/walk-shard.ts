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
  /** Why the journal is not whole and as it was written; empty when it is. */
  readonly faults: readonly string[];
  /** Whether all there is was read: nothing can be said of an end that was not reached. */
  readonly isRead: boolean;
  /** Why nobody could say what stands behind that; undefined where somebody could. */
  readonly unread: string | undefined;
}

export interface WalkPorts {
  readonly reader: JournalReader;
  /** Those of the shard, in the order of their sequences; read before the walk, so that the journal has come as far. */
  readonly marks: readonly Mark[];
  readonly reservingEpoch: number;
  readonly tell: (read: number) => void;
  /** Gets every record on the way. */
  readonly onEntries: (entries: readonly JournalEntry[]) => void;
  /** Behind each page; what it cannot do says nothing of the journal. */
  readonly onPage?: () => Promise<void>;
}

const PAGE = 4_000;
/** Reads a shard from its first record to its last, or to the first damage. */
export async function walkShard({ family, shard }: JournalId, ports: WalkPorts): Promise<Walk> {
  let head = beforeFirst(family);
  let epochs = 0;
  const faults: string[] = [];
  const waiting = [...ports.marks];
  let unread: string | undefined;
  let isRead = false;
  try {
    for (;;) {
      const { page, damage } = await soundPage(ports.reader, shard, head.sequence + 1, PAGE);
      if (damage !== undefined) throw damage;
      const last = page.at(-1);
      if (last === undefined) break;
      if (page[0]?.previousHash !== head.hash) {
        throw new JournalCorrupt(shard, head.sequence + 1, 'it was written anew while it was read');
      }
      epochs += page.filter(({ kind }) => kind === 'epoch').length;
      while (waiting[0] !== undefined && waiting[0].sequence <= last.sequence) {
        const fault = faultOf(waiting.shift(), page);
        if (fault !== undefined) faults.push(fault);
      }
      ports.onEntries(page);
      await ports.onPage?.();
      head = headAt(last);
      ports.tell(head.sequence);
    }
    isRead = true;
    faults.push(...waiting.map((mark) => lackOf(mark, head.sequence)));
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

function faultOf(mark: Mark | undefined, page: readonly JournalEntry[]): string | undefined {
  const [first] = page;
  if (mark === undefined || first === undefined) return undefined;
  const { sequence, hash } = mark;
  return page[sequence - first.sequence]?.hash === hash ? undefined : differenceFrom(mark);
}

/** As much as there is before the damage; `damage` where that is nothing. */
export interface SoundPage {
  readonly page: readonly JournalEntry[];
  readonly damage?: JournalCorrupt;
}

/** Readers give a page whole or not at all: where it cannot be had, what stands before the first damage in it. */
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
      // Damage may be named by a record before it, such as one that appears again: then the place is closed in on.
      const before = error.sequence - from;
      wanted = before > 0 && before < wanted ? before : Math.floor(wanted / 2);
    }
  }
}
