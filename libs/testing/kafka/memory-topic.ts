import { SendLost, SendRefused, type LogMessage, type TopicLog } from '../../journal/kafka/topic-log.js';

/** What becomes of a send. `late`: it arrives, but only after others have, and nobody is answered. */
export type SendFate = 'answered' | 'refused' | 'lost before' | 'lost behind' | 'late';

/** A topic in memory whose sends meet the fates that a test has in mind, in the order of the sends. */
export class MemoryTopic {
  private readonly values: Buffer[] = [];
  private readonly held: (readonly Buffer[])[] = [];
  private readonly fates: SendFate[] = [];

  /** Of the next sends, whoever makes them. */
  expect(...fates: readonly SendFate[]): void {
    this.fates.push(...fates);
  }

  /** What was held up arrives now. */
  release(): void {
    for (const values of this.held.splice(0)) this.values.push(...values);
  }

  open(): TopicLog {
    return {
      append: (values) => this.append(values),
      end: () => Promise.resolve(this.values.length),
      fetch: (offset) => Promise.resolve(this.messages(offset)),
      close: () => Promise.resolve(),
    };
  }

  private async append(values: readonly Buffer[]): Promise<number> {
    await Promise.resolve();
    const fate = this.fates.shift() ?? 'answered';
    if (fate === 'refused') throw new SendRefused('NOT_LEADER_FOR_PARTITION');
    if (fate === 'lost before') throw new SendLost('lost');
    if (fate === 'late') this.held.push(values);
    else this.values.push(...values);
    if (fate !== 'answered') throw new SendLost('lost');
    return this.values.length - values.length;
  }

  private messages(offset: number): LogMessage[] {
    const PAGE = 7;
    return this.values
      .slice(offset, offset + PAGE)
      .map((value, index) => ({ offset: offset + index, value }));
  }
}
