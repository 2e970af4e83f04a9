import {
  MessagesDamaged,
  MessagesDeleted,
  SendLost,
  SendRefused,
  type LogMessage,
  type TopicLog,
} from '../../journal/kafka/topic-log.js';

/** The fate of a send. `late`: it arrives after later sends, and its caller gets no reply. */
export type SendFate = 'answered' | 'refused' | 'without a leader' | 'lost before' | 'lost behind' | 'late';
/** The fate of a request for the end. In the second case the broker does not know the latest messages yet. */
export type LookFate = 'right' | 'behind' | 'broken';

type Stored = Omit<LogMessage, 'offset'>;

const PAGE = 7;
const LAG = 3;

/** A topic in memory. Its sends and requests for the end meet the fates that a test sets, in order. */
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

  /** Sets the fates of the next sends of any writer. */
  expect(...fates: readonly SendFate[]): void {
    this.sends.push(...fates);
  }

  expectLooks(...fates: readonly LookFate[]): void {
    this.looks.push(...fates);
  }

  /** Sets for how many turns of the event loop the next requests are delayed. */
  delay(...turns: readonly number[]): void {
    this.turns.push(...turns);
  }

  /** From now on everything succeeds. */
  calm(): void {
    for (const fates of [this.sends, this.looks, this.turns]) fates.length = 0;
  }

  /** Lets delayed sends arrive. */
  release(): void {
    for (const sent of this.held.splice(0)) this.stored.push(...sent);
  }

  /** Replaces the content, as if the topic had been deleted and recreated. */
  replace(values: readonly Buffer[]): void {
    this.stored = values.map((value) => ({ value }));
  }

  /** Damages the length of a batch: from this offset on no message can be read. */
  damage(offset: number): void {
    this.damagedFrom = offset;
  }

  /** Damages the content of one message. */
  blank(offset: number): void {
    this.stored[offset] = { value: Buffer.alloc(0) };
  }

  /** Deletes the messages before this offset. */
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
          values.map((value, index) => ({ value, seal: seals?.get(index) })),
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
    return fate === 'behind' ? Math.max(0, this.stored.length - LAG) : this.stored.length;
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
