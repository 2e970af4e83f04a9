import { describe, expect, it } from '@jest/globals';
import type { BatchSink } from './group-commit-writer.js';
import { GroupCommitWriter } from './group-commit-writer.js';
import { beforeFirst } from './hash-chain.js';
import type { JournalEntry } from './journal.js';
import { JournalAmbiguous, JournalFenced, JournalRefused, JournalUnavailable } from './journal-errors.js';
import { GROUP_RECORDS, MAX_BATCH_RECORDS, MAX_QUEUED_RECORDS } from './limits.js';

/** A sink whose writes end when the test says so. */
class ManualSink implements BatchSink {
  readonly writes: (readonly JournalEntry[])[] = [];
  failure: Error | undefined;
  closed = false;
  questions = 0;
  answer: Promise<void> = Promise.resolve();
  private pending: PromiseWithResolvers<void> | undefined;

  fault(): Error | undefined {
    return this.failure;
  }

  confirm(): Promise<void> {
    this.questions += 1;
    return this.answer;
  }

  write(records: readonly JournalEntry[]): Promise<void> {
    if (this.pending !== undefined) throw new Error('two writes at once');
    this.writes.push(records);
    this.pending = Promise.withResolvers();
    return this.pending.promise;
  }

  async succeed(): Promise<void> {
    const { pending } = this;
    this.pending = undefined;
    pending?.resolve();
    await turn();
  }

  async fail(error: Error): Promise<void> {
    const { pending } = this;
    this.pending = undefined;
    pending?.reject(error);
    await turn();
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  get isWriting(): boolean {
    return this.pending !== undefined;
  }

  get sizes(): number[] {
    return this.writes.map((records) => records.length);
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function open(): { sink: ManualSink; writer: GroupCommitWriter } {
  const sink = new ManualSink();
  return { sink, writer: new GroupCommitWriter(3, { ...beforeFirst('auction'), epoch: 1 }, sink) };
}

function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'written',
    (error: unknown) => error,
  );
}

describe('group commit', () => {
  it('sends the calls of one turn together, and later ones with the next write', async () => {
    const { sink, writer } = open();
    const first = [writer.append(['1', '2']), writer.append(['3'])];
    await turn();
    const second = [writer.append(['4']), writer.append(['5', '6'])];
    await turn();
    expect(sink.sizes).toEqual([3]);
    await sink.succeed();
    expect(sink.sizes).toEqual([3, 3]);
    await sink.succeed();
    const firsts = (await Promise.all([...first, ...second])).map(({ firstSequence }) => firstSequence);
    expect(firsts).toEqual([1, 3, 4, 5]);
    expect(writer.head).toMatchObject({ sequence: 6, epoch: 1 });
  });

  it('acknowledges nothing before its write has ended', async () => {
    const { sink, writer } = open();
    let acknowledged = false;
    const append = writer.append(['1']).then(() => {
      acknowledged = true;
    });
    await turn();
    expect([acknowledged, writer.head.sequence]).toEqual([false, 0]);
    await sink.succeed();
    await append;
    expect(writer.head.sequence).toBe(1);
  });

  it('bounds a group without dividing a call', async () => {
    const { sink, writer } = open();
    const half = Array<string>(GROUP_RECORDS / 2).fill('1');
    const most = Array<string>(MAX_BATCH_RECORDS).fill('1');
    const calls = [half, half, ['1'], most, ['1']].map((call) => writer.append(call));
    await turn();
    while (sink.isWriting) await sink.succeed();
    await Promise.all(calls);
    expect(sink.sizes).toEqual([GROUP_RECORDS, 1, MAX_BATCH_RECORDS, 1]);
  });

  it('refuses calls when the queue is full, and accepts them again when there is room', async () => {
    const { sink, writer } = open();
    const most = Array<string>(MAX_BATCH_RECORDS).fill('1');
    const calls = [writer.append(['first'])];
    await turn();
    for (let queued = 0; queued < MAX_QUEUED_RECORDS; queued += most.length) calls.push(writer.append(most));
    expect(await reasonOf(writer.append(['one more']))).toBeInstanceOf(JournalRefused);
    expect(writer.health()).toEqual({ ok: true });
    await sink.succeed();
    calls.push(writer.append(['now']));
    while (sink.isWriting) await sink.succeed();
    await Promise.all(calls);
    expect(writer.head.sequence).toBe(MAX_QUEUED_RECORDS + 2);
  });
});

describe('a writer that confirms that the shard is still its own', () => {
  it('asks while a write is in flight', async () => {
    const { sink, writer } = open();
    const append = writer.append(['1']);
    await turn();
    await writer.confirm();
    expect([sink.questions, sink.isWriting]).toEqual([1, true]);
    await sink.succeed();
    await append;
  });

  it('dies with all waiting calls if it is not', async () => {
    const { sink, writer } = open();
    const inFlight = reasonOf(writer.append(['1']));
    await turn();
    const queued = reasonOf(writer.append(['2']));
    sink.answer = Promise.reject(new JournalFenced(3, 'gone'));
    expect(await reasonOf(writer.confirm())).toBeInstanceOf(JournalFenced);
    expect(await queued).toBeInstanceOf(JournalFenced);
    expect(writer.health().ok).toBe(false);
    await sink.fail(new JournalFenced(3, 'gone'));
    expect(await inFlight).toBeInstanceOf(JournalFenced);
    expect(sink.sizes).toEqual([1]);
    expect(await reasonOf(writer.confirm())).toBeInstanceOf(JournalFenced);
  });

  it('reports that and continues if the store is unreachable', async () => {
    const { sink, writer } = open();
    sink.answer = Promise.reject(new Error('no answer'));
    expect(await reasonOf(writer.confirm())).toBeInstanceOf(JournalUnavailable);
    const append = writer.append(['1']);
    await turn();
    await sink.succeed();
    expect(await append).toMatchObject({ firstSequence: 1 });
    await writer.close();
    expect(await reasonOf(writer.confirm())).toBeInstanceOf(JournalUnavailable);
  });
});

describe('after a failure', () => {
  it('the call in flight gets the known outcome, and queued calls are reported as never sent', async () => {
    const { sink, writer } = open();
    const inFlight = reasonOf(writer.append(['1']));
    await turn();
    const queued = reasonOf(writer.append(['2']));
    const ambiguous = new JournalAmbiguous(3, 'no answer');
    await sink.fail(ambiguous);
    expect(await inFlight).toBe(ambiguous);
    expect(await queued).toBeInstanceOf(JournalUnavailable);
    expect(await reasonOf(writer.append(['3']))).toBeInstanceOf(JournalUnavailable);
    expect(writer.health()).toEqual({ ok: false, reason: ambiguous.message });
    expect(sink.writes).toHaveLength(1);
    expect(sink.closed).toBe(true);
    await writer.close();
  });

  it('a deposed writer stays deposed', async () => {
    const { sink, writer } = open();
    const calls = [reasonOf(writer.append(['1']))];
    await turn();
    calls.push(reasonOf(writer.append(['2'])));
    await sink.fail(new JournalFenced(3, 'deposed'));
    calls.push(reasonOf(writer.append(['3'])));
    for (const call of calls) expect(await call).toBeInstanceOf(JournalFenced);
  });

  it('of an unexpected kind, the outcome counts as unknown', async () => {
    const { sink, writer } = open();
    const append = reasonOf(writer.append(['1']));
    await turn();
    await sink.fail(new TypeError('a bug'));
    expect(await append).toBeInstanceOf(JournalAmbiguous);
  });
});

describe('health', () => {
  it('shows the fault that the sink knows before any append', () => {
    const { sink, writer } = open();
    expect(writer.health()).toEqual({ ok: true });
    sink.failure = new Error('the connection was closed');
    expect(writer.health()).toEqual({ ok: false, reason: 'the connection was closed' });
  });
});
