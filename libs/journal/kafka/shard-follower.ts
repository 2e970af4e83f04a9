import type { JournalEntry } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';
import type { LogPlace } from './log-cursor.js';
import { ShardLog } from './shard-log.js';
import type { TopicLog } from './topic-log.js';

/** The latest entries, which most readers ask for, are kept; so are the places where readers left off. */
const RECENT = 4_096;
const RECENT_CHARS = 8 * 1024 * 1024;
const PLACES = 32;
const PAGE = 2_048;
const AT_ONCE = 16;

/** One shard's topic as one process reads it. */
export class ShardFollower {
  private readonly reading: ShardLog;
  private tail: LogPlace | undefined;
  private recent: JournalEntry[] = [];
  private chars = 0;
  private readonly places = new Map<number, LogPlace>();
  private advancing: Promise<void> | undefined;

  constructor(
    private readonly shard: number,
    private readonly log: TopicLog,
  ) {
    this.reading = new ShardLog(shard, log);
  }

  /** Where there is damage, whoever reads on is to find it: the head lies there. */
  async head(): Promise<number> {
    try {
      await this.advance();
    } catch (error) {
      if (error instanceof JournalCorrupt) return Math.max(error.sequence, this.tail?.head.sequence ?? 0);
      throw error;
    }
    return this.tail?.head.sequence ?? 0;
  }

  async read(from: number, limit: number): Promise<JournalEntry[]> {
    // What is sound can be read whatever stands behind it.
    if (from + limit - 1 > (this.tail?.head.sequence ?? -1)) await this.head();
    const [first] = this.recent;
    if (first !== undefined && first.sequence <= from) {
      const start = from - first.sequence;
      return this.recent.slice(start, start + limit);
    }
    const place = await this.placeBehind(from - 1);
    if (place === undefined) return [];
    const run = await this.reading.run(place, limit);
    this.remember(run.place);
    return [...run.entries];
  }

  async entries(sequences: readonly number[]): Promise<JournalEntry[]> {
    const found: JournalEntry[] = [];
    for (let at = 0; at < sequences.length; at += AT_ONCE) {
      found.push(
        ...(await Promise.all(sequences.slice(at, at + AT_ONCE).map((sequence) => this.one(sequence)))),
      );
    }
    return found;
  }

  async close(): Promise<void> {
    await this.log.close().catch(() => undefined);
  }

  private async one(sequence: number): Promise<JournalEntry> {
    const [entry] = await this.read(sequence, 1);
    if (entry?.sequence === sequence) return entry;
    throw new JournalCorrupt(this.shard, sequence, 'the record is missing');
  }

  private async placeBehind(sequence: number): Promise<LogPlace | undefined> {
    return this.places.get(sequence) ?? (await this.reading.behind(sequence, this.tail));
  }

  /** Readers go on where they left off; the place that was used longest ago is forgotten. */
  private remember(place: LogPlace): void {
    const { sequence } = place.head;
    this.places.delete(sequence);
    this.places.set(sequence, place);
    if (this.places.size <= PLACES) return;
    const [oldest] = this.places.keys();
    if (oldest !== undefined) this.places.delete(oldest);
  }

  /** Calls that come meanwhile share one look. */
  private advance(): Promise<void> {
    this.advancing ??= this.follow().finally(() => {
      this.advancing = undefined;
    });
    return this.advancing;
  }

  private async follow(): Promise<void> {
    this.tail ??= await this.reading.tail();
    const end = await this.reading.end();
    while (this.tail.next < end) {
      const { entries, place } = await this.reading.run(this.tail, PAGE, end);
      if (place.next === this.tail.next) return;
      this.tail = place;
      this.keep(entries);
    }
  }

  private keep(entries: readonly JournalEntry[]): void {
    this.recent.push(...entries);
    for (const { payload } of entries) this.chars += payload.length;
    let gone = Math.max(0, this.recent.length - RECENT);
    let chars = this.chars;
    for (let index = 0; index < this.recent.length; index += 1) {
      if (index >= gone && chars <= RECENT_CHARS) break;
      gone = Math.max(gone, index + 1);
      chars -= this.recent[index]?.payload.length ?? 0;
    }
    if (gone > 0) this.recent = this.recent.slice(gone);
    this.chars = chars;
  }
}
