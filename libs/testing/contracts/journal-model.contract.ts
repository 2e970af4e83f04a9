import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JournalWriter } from '../../journal/journal.js';
import { JournalFenced } from '../../journal/journal-errors.js';
import { everything, freshShard, type JournalSubject } from './journal-subject.js';

type Step =
  | { readonly does: 'append'; readonly calls: readonly (readonly string[])[] }
  | { readonly does: 'append late'; readonly payload: string }
  | { readonly does: 'take over' }
  | { readonly does: 'read'; readonly from: number; readonly limit: number };

const payload = fc.oneof(
  fc.json(),
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
);
const call = fc.array(payload, { minLength: 1, maxLength: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('append' as const), calls: fc.array(call, { maxLength: 6 }) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('append late' as const), payload }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('take over' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('read' as const),
      from: fc.integer({ min: 1, max: 40 }),
      limit: fc.integer({ min: 1, max: 40 }),
    }),
  },
);

/** The simplest possible model of the journal. */
class Model {
  readonly records: string[] = [];
  epoch = 0;

  takeOver(): void {
    this.epoch += 1;
    this.records.push(`epoch ${this.epoch}`);
  }

  append(calls: readonly (readonly string[])[]): void {
    for (const text of calls.flat()) this.records.push(`${this.epoch}: ${text}`);
  }
}

class Run {
  private readonly shard = freshShard();
  private readonly model = new Model();
  private readonly writers: JournalWriter[] = [];

  constructor(private readonly subject: JournalSubject) {}

  async perform(steps: readonly Step[]): Promise<void> {
    await this.takeOver();
    for (const each of steps) await this.step(each);
    expect(await this.stored()).toEqual(this.model.records);
    expect((await this.subject.reader.heads()).get(this.shard)).toBe(this.model.records.length);
    await Promise.all(this.writers.map((writer) => writer.close()));
  }

  private async step(each: Step): Promise<void> {
    switch (each.does) {
      case 'append':
        await Promise.all(each.calls.map((payloads) => this.writers.at(-1)!.append(payloads)));
        this.model.append(each.calls);
        expect(this.writers.at(-1)!.head.sequence).toBe(this.model.records.length);
        return;
      case 'append late':
        for (const deposed of this.writers.slice(0, -1)) {
          await expect(deposed.append([each.payload])).rejects.toBeInstanceOf(JournalFenced);
        }
        return;
      case 'take over':
        await this.takeOver();
        return;
      case 'read': {
        const page = await this.subject.reader.read(this.shard, each.from, each.limit);
        const expected = this.model.records.slice(each.from - 1, each.from - 1 + each.limit);
        expect(page).toHaveLength(expected.length);
      }
    }
  }

  private async takeOver(): Promise<void> {
    this.writers.push(await this.subject.journalOf('anybody').open(this.shard));
    this.model.takeOver();
  }

  private async stored(): Promise<string[]> {
    const all = await everything(this.subject.reader, this.shard);
    return all.map(({ kind, epoch, payload: text }) =>
      kind === 'epoch' ? `epoch ${epoch}` : `${epoch}: ${text}`,
    );
  }
}

export function describeModel(subject: () => JournalSubject): void {
  it('leaves the journal as a simple model predicts', async () => {
    const steps = fc.array(step, { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(steps, (all) => new Run(subject()).perform(all)),
      { numRuns: 40 },
    );
  });
}
