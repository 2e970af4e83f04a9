import type { JournalEntry, UncheckedRecord } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';
import type { JournalId } from '../journal-id.js';
import type { LogPosition } from './log-cursor.js';
import { PositionFinder } from './position-finder.js';
import { decodeRecord } from './record-format.js';
import { RecentEntries } from './recent-entries.js';
import { ShardLog, type KnownRecord, type KnownRecordState } from './shard-log.js';
import { TopicMissing, type LogMessage, type TopicLog } from './topic-log.js';

const PAGE = 2_048;
/** More than most records have. */
const UNCHECKED_BYTES = 1_024;
/** How many readers may stop somewhere and resume there later. */
const RESUME_POINTS = 16;
const AT_ONCE = 16;
/** After this many reads without new records, the follower checks that the last record is still at its offset. */
const QUIET_READS = 8;

interface ResumePoint {
  readonly position: LogPosition;
  readonly ahead: readonly LogMessage[];
}

function unreachable({ message }: JournalCorrupt): string {
  return `the record cannot be reached: ${message}`;
}

function anotherTopic(): Error {
  return new Error('its topic is not the one that was read before');
}

function unchecked({ offset, value, seal }: LogMessage): UncheckedRecord {
  const sealed = seal === undefined ? {} : { seal };
  const record = decodeRecord(value);
  if (record === undefined) return { offset, payload: value.toString('utf8'), ...sealed };
  const { sequence, epoch, kind, hash, payload } = record;
  return { offset, sequence, epoch, kind, hash, payload: payload.toString(), ...sealed };
}

/** One shard's topic as one process reads it. */
export class ShardFollower {
  private readonly shard: number;
  private readonly reading: ShardLog;
  private readonly finder: PositionFinder;
  /** The position after the last sound record; undefined while there is no topic. */
  private tail: LogPosition | undefined;
  /** The damage after `tail`. */
  private damage: JournalCorrupt | undefined;
  /** The position before the damage that a reader has reached last. */
  private beforeDamage: LogPosition | undefined;
  private quietReads = 0;
  private readonly recent = new RecentEntries();
  private readonly resumePoints = new Map<number, ResumePoint>();
  private pollInFlight: Promise<void> | undefined;
  private nextPoll: Promise<void> | undefined;

  constructor(
    journal: JournalId,
    private readonly log: TopicLog,
  ) {
    this.shard = journal.shard;
    this.reading = new ShardLog(journal, log);
    this.finder = new PositionFinder(journal.shard, this.reading);
  }

  /** A damaged record counts as the head, so that readers reach the damage. */
  async head(): Promise<number> {
    await this.poll();
    return Math.max(this.damage?.sequence ?? 0, this.tail?.head.sequence ?? 0);
  }

  /** Whether a record is at its known position. A follower that has read nothing begins there, and checks everything after it. */
  async begin(known: KnownRecord): Promise<KnownRecordState> {
    const position = await this.reading.find(known);
    if (typeof position === 'string') return position;
    this.tail ??= position;
    return 'known';
  }

  async read(from: number, limit: number): Promise<JournalEntry[]> {
    const last = from + limit - 1;
    if (last > (this.tail?.head.sequence ?? 0)) await this.poll();
    const { tail, damage } = this;
    if (tail === undefined) return [];
    const sound = Math.min(last, tail.head.sequence);
    if (damage !== undefined && last > sound) {
      this.beforeDamage = tail;
      throw this.reached(damage, from);
    }
    if (from > sound) return [];
    return this.recent.slice(from, sound) ?? (await this.readOld(from, sound, tail));
  }

  async entries(sequences: readonly number[]): Promise<JournalEntry[]> {
    const found: JournalEntry[] = [];
    for (let at = 0; at < sequences.length; at += AT_ONCE) {
      const some = sequences.slice(at, at + AT_ONCE).map((sequence) => this.one(sequence));
      found.push(...(await Promise.all(some)));
    }
    return found;
  }

  /** Records from the damage on that was reached last; none without damage. */
  async unchecked(limit: number): Promise<UncheckedRecord[]> {
    const { beforeDamage } = this;
    if (beforeDamage === undefined) return [];
    const end = await this.reading.end();
    const found: UncheckedRecord[] = [];
    for (let { next } = beforeDamage; next < end && found.length < limit;) {
      const messages = await this.reading.standingAt(next, (limit - found.length) * UNCHECKED_BYTES);
      if (messages.length === 0) break;
      found.push(...messages.map(unchecked));
      next += messages.length;
    }
    return found.slice(0, limit);
  }

  async close(): Promise<void> {
    await this.log.close().catch(() => undefined);
  }

  private async one(sequence: number): Promise<JournalEntry> {
    const [entry] = await this.read(sequence, 1);
    if (entry?.sequence === sequence) return entry;
    throw new JournalCorrupt(this.shard, sequence, 'the record is missing');
  }

  private async readOld(from: number, to: number, tail: LogPosition): Promise<JournalEntry[]> {
    const known = this.resumePoints.get(from - 1);
    this.resumePoints.delete(from - 1);
    const position = known?.position ?? (await this.finder.behind(from - 1, tail));
    const bounds = { from: position, end: tail.next, limit: to - from + 1, ahead: known?.ahead ?? [] };
    const run = await this.reading.run(bounds);
    if (run.damage !== undefined) {
      this.beforeDamage = run.position;
      throw this.reached(run.damage, from);
    }
    if (to > from) this.remember(run);
    return [...run.entries];
  }

  /** Lets readers resume where they stopped. Drops the position that was unused for the longest time. */
  private remember({ position, ahead }: ResumePoint): void {
    this.resumePoints.set(position.head.sequence, { position, ahead });
    if (this.resumePoints.size <= RESUME_POINTS) return;
    const [oldest] = this.resumePoints.keys();
    if (oldest !== undefined) this.resumePoints.delete(oldest);
  }

  /** The damage as an error for a reader that begins after it, at the record before its first. */
  private reached(damage: JournalCorrupt, from: number): JournalCorrupt {
    if (from - 1 <= damage.sequence) return damage;
    return new JournalCorrupt(this.shard, from - 1, unreachable(damage));
  }

  /**
   * Everything that is durable now. Concurrent calls share one read, but not one that was already in flight: it may have read the
   * end before the record that its caller knows of.
   */
  private poll(): Promise<void> {
    if (this.pollInFlight === undefined) {
      this.pollInFlight = this.follow().finally(() => {
        this.pollInFlight = undefined;
      });
      return this.pollInFlight;
    }
    const next = (): Promise<void> => {
      this.nextPoll = undefined;
      return this.poll();
    };
    this.nextPoll ??= this.pollInFlight.then(next, next);
    return this.nextPoll;
  }

  /** Checks the last record, because a topic that was deleted and recreated may have the same length. */
  private async checkQuietTopic(position: LogPosition): Promise<void> {
    this.quietReads += 1;
    if (this.quietReads < QUIET_READS) return;
    try {
      if (!(await this.reading.stillHas(position))) throw anotherTopic();
    } catch (error) {
      if (!(error instanceof JournalCorrupt)) throw error;
      // Only readers of this shard get the error: a request for the heads of all shards must not fail for one.
      this.damage = new JournalCorrupt(this.shard, position.head.sequence + 1, unreachable(error));
      return;
    }
    this.quietReads = 0;
    this.damage = undefined;
  }

  private async follow(): Promise<void> {
    const end = await this.reading.end().catch((error: unknown) => {
      if (error instanceof TopicMissing && this.tail === undefined) return undefined;
      throw error;
    });
    if (end === undefined) return;
    let position = this.tail ?? (await this.reading.provenNear(end));
    if (end < position.next) throw new Error(`its topic ends at ${end}, before what was read of it`);
    this.tail = position;
    if (end === position.next) await this.checkQuietTopic(position);
    while (position.next < end) {
      const {
        entries,
        damage,
        position: reached,
      } = await this.reading.run({ from: position, end, limit: PAGE });
      // No record was read. The topic may have been deleted and created again.
      if (entries.length === 0 && damage === undefined && !(await this.reading.stillHas(position))) {
        throw anotherTopic();
      }
      this.recent.add(entries);
      this.tail = position = reached;
      this.damage = damage;
      if (damage !== undefined) return;
    }
  }
}
