import {
  MessagesDamaged,
  MessagesDeleted,
  SendLost,
  SendRefused,
  type LogMessage,
  type TopicLog,
} from '../../journal/kafka/topic-log.js';

/** What becomes of a send. `late`: it arrives, but only after others have, and nobody is answered. */
export type SendFate = 'answered' | 'refused' | 'without a leader' | 'lost before' | 'lost behind' | 'late';
/** What becomes of a look at the end. `behind`: whoever answers has not heard of the latest messages yet. */
export type LookFate = 'right' | 'behind' | 'broken';

type Stored = Omit<LogMessage, 'offset'>;

const PAGE = 7;
const BEHIND = 3;

/** A topic in memory whose sends and looks meet the fates that a test has in mind, in the order in which they are made. */
export class MemoryTopic {
  private stored: Stored[] = [];
  private readonly held: (readonly Stored[])[] = [];
  private readonly sends: SendFate[] = [];
  private readonly looks: LookFate[] = [];
  private readonly turns: number[] = [];
  private damagedFrom = Infinity;
  private start = 0;

  get length(): number {
    return this.stored.length;
  }

  get isHolding(): boolean {
    return this.held.length > 0;
  }

  /** Of the next sends, whoever makes them. */
  expect(...fates: readonly SendFate[]): void {
    this.sends.push(...fates);
  }

  expectLooks(...fates: readonly LookFate[]): void {
    this.looks.push(...fates);
  }

  /** How many turns of the event loop the next requests are under way. */
  delay(...turns: readonly number[]): void {
    this.turns.push(...turns);
  }

  /** From here on everything goes well. */
  calm(): void {
    for (const fates of [this.sends, this.looks, this.turns]) fates.length = 0;
  }

  /** What was held up arrives now. */
  release(): void {
    for (const sent of this.held.splice(0)) this.stored.push(...sent);
  }

  /** Somebody deletes the topic and makes it anew, with this in it. */
  replace(values: readonly Buffer[]): void {
    this.stored = values.map((value) => ({ value }));
  }

  /** A disk has lost how long a batch is: from this offset on nobody is given anything. */
  damage(offset: number): void {
    this.damagedFrom = offset;
  }

  /** A disk has lost what one of them was. */
  blank(offset: number): void {
    this.stored[offset] = { value: Buffer.alloc(0) };
  }

  /** Somebody has the broker delete what stands before this offset. */
  deleteBefore(offset: number): void {
    this.start = offset;
  }

  content(): readonly Buffer[] {
    return this.stored.map(({ value }) => value);
  }

  open(): TopicLog {
    return {
      append: (values, withinMillis, seals) =>
        this.append(
          values.map((value, place) => ({ value, seal: seals?.get(place) })),
          withinMillis,
        ),
      end: () => this.end(),
      fetch: async (offset) => {
        await this.underWay();
        return this.messages(offset);
      },
      close: () => Promise.resolve(),
    };
  }

  private async append(sent: readonly Stored[], withinMillis: number): Promise<number> {
    await this.underWay();
    const fate = this.sends.shift() ?? 'answered';
    if (fate === 'refused') throw new SendRefused('NOT_ENOUGH_REPLICAS', false);
    if (fate === 'without a leader') throw new SendRefused(`no answer within ${withinMillis} ms`, false);
    if (fate === 'lost before') throw new SendLost('lost');
    if (fate === 'late') this.held.push(sent);
    else this.stored.push(...sent);
    const base = this.stored.length - sent.length;
    await this.underWay();
    if (fate !== 'answered') throw new SendLost('lost');
    if (this.start > 0) throw new MessagesDeleted(this.start);
    return base;
  }

  private async end(): Promise<number> {
    await this.underWay();
    const fate = this.looks.shift() ?? 'right';
    if (fate === 'broken') throw new Error('broken');
    return fate === 'behind' ? Math.max(0, this.stored.length - BEHIND) : this.stored.length;
  }

  private messages(offset: number): LogMessage[] {
    if (this.start > 0) throw new MessagesDeleted(this.start);
    if (offset >= this.damagedFrom) throw new MessagesDamaged(`offset ${offset} of its topic cannot be read`);
    return this.stored
      .slice(offset, Math.min(offset + PAGE, this.damagedFrom))
      .map((stored, index) => ({ offset: offset + index, ...stored }));
  }

  private async underWay(): Promise<void> {
    await Promise.resolve();
    for (let turn = this.turns.shift() ?? 0; turn > 0; turn -= 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
