import type { JournalEntry, JournalHead } from '../journal.js';
import { JournalCorrupt, JournalUnavailable, messageOf } from '../journal-errors.js';
import type { JournalFamily } from '../journal-id.js';
import { checkFollows, type JournalReceiver } from '../stores/journal-store.js';
import { headAt } from '../hash-chain.js';
import type { LogPosition } from './log-cursor.js';
import { macsOf } from '../seals/record-macs.js';
import { type Anchor, encodeRecord } from './record-format.js';
import { ShardLog } from './shard-log.js';
import type { TopicLog } from './topic-log.js';

const SEND_WITHIN_MILLIS = 30_000;

interface Reception {
  readonly topic: ShardLog;
  readonly log: TopicLog;
  position: LogPosition;
}

/** Copies records into topics, with anchors for their new offsets. */
export class KafkaReceiver implements JournalReceiver {
  private readonly shards = new Map<number, Reception>();

  constructor(
    private readonly family: JournalFamily,
    private readonly openLog: (shard: number) => Promise<TopicLog>,
  ) {}

  async head(shard: number): Promise<JournalHead> {
    return (await this.reception(shard)).position.head;
  }

  async receive(shard: number, entries: readonly JournalEntry[]): Promise<void> {
    const [first] = entries;
    if (first === undefined) return;
    const reception = await this.reception(shard);
    const { position, topic, log } = reception;
    checkFollows(shard, position.head, first);
    const { values, after } = encodeAfter(position, entries);
    try {
      const base = await topic.append(values, SEND_WITHIN_MILLIS, macsOf(entries));
      if (base !== position.next)
        throw new Error(`another process writes to its topic, at offset ${position.next}`);
    } catch (error) {
      // The next call first reads how many records this one wrote.
      this.shards.delete(shard);
      await log.close();
      if (error instanceof JournalCorrupt) throw error;
      throw new JournalUnavailable(shard, messageOf(error), { cause: error });
    }
    reception.position = after;
  }

  async close(): Promise<void> {
    await Promise.all([...this.shards.values()].map(({ log }) => log.close()));
  }

  private async reception(shard: number): Promise<Reception> {
    const known = this.shards.get(shard);
    if (known !== undefined) return known;
    const log = await this.openLog(shard);
    const topic = new ShardLog({ family: this.family, shard }, log);
    try {
      const { position, damage } = await topic.tail();
      if (damage !== undefined) throw damage;
      const reception = { topic, log, position };
      this.shards.set(shard, reception);
      return reception;
    } catch (error) {
      // No one else could close it later, and an open connection keeps a process from ending.
      await log.close();
      throw error;
    }
  }
}

/** Encodes records for the offsets after a position, if no other process writes there. */
function encodeAfter(
  from: LogPosition,
  entries: readonly JournalEntry[],
): { readonly values: readonly Buffer[]; readonly after: LogPosition } {
  let position = from;
  let epochAnchor: Anchor | undefined;
  const values = entries.map((entry) => {
    const { kind, sequence } = entry;
    const offset = position.next;
    const before =
      position.offset === undefined
        ? undefined
        : { offset: position.offset, sequence: position.head.sequence };
    // If the epoch began earlier, the last existing record serves as its anchor.
    if (kind === 'event') epochAnchor ??= before;
    const anchor = kind === 'epoch' ? before : epochAnchor;
    if (kind === 'epoch') epochAnchor = { offset, sequence };
    position = { next: offset + 1, head: headAt(entry), offset, anchor };
    return encodeRecord(entry, anchor);
  });
  return { values, after: position };
}
