import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, jest } from '@jest/globals';
import { JournalCorrupt, JournalUnavailable, JournalUnreadable } from '#libs/journal/journal-errors.js';
import { KafkajsLog } from '#libs/journal/kafka/kafkajs/kafkajs-log.js';
import { MAX_BATCH_BYTES, MAX_BATCH_RECORDS } from '#libs/journal/limits.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { everything, events } from '#libs/testing/contracts/journal-subject.js';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { alter, deleteBefore, journalAt, readerAt, topicsAt } from './access.js';
import { expectTruth, WriterProcess } from './writers.js';

jest.setTimeout(180_000);

const SLOW_MS = 10_000;
const clock = new SystemClock();
const started: WriterProcess[] = [];

describeWithKafka('a broker', {}, (kafka) => {
  afterEach(async () => {
    await Promise.all(started.splice(0).map((writer) => writer.kill()));
  });

  const start = (shard: number): WriterProcess => {
    const writer = WriterProcess.start(kafka(), shard, 'writer', { records: 5, pauseMillis: 2 });
    started.push(writer);
    return writer;
  };
  const broker = () => kafka().own!.brokers[0]!;

  it('that stops answering for ten seconds ends no process, and loses nothing', async () => {
    const writer = start(1);
    const reader = readerAt(kafka());
    await writer.untilWritten(100);
    broker().signal('SIGSTOP');
    const blind = reader.heads().catch((error: unknown) => error);
    await sleep(SLOW_MS);
    broker().signal('SIGCONT');
    await writer.untilWritten(500);
    expect(await blind).toBeDefined();
    writer.signal('SIGSTOP');
    await sleep(200);
    expectTruth(await everything(reader, 1), [writer]);
    await reader.close();
  });

  it('that is killed and restarted ends no process, and loses nothing', async () => {
    const writer = start(3);
    const reader = readerAt(kafka());
    await writer.untilWritten(100);
    broker().signal('SIGKILL');
    await broker().gone();
    await expect(reader.heads().then(() => reader.read(3, 1, 1))).rejects.toBeInstanceOf(JournalUnreadable);
    await broker().start();
    await kafka().own!.untilUsable();
    await writer.untilWritten(500);
    writer.signal('SIGSTOP');
    await sleep(200);
    expectTruth(await everything(reader, 3), [writer]);
    await reader.close();
  });

  it('accepts the largest batch of the journal', async () => {
    const writer = await journalAt(kafka()).open(4);
    const many = Array<string>(MAX_BATCH_RECORDS).fill('x'.repeat(MAX_BATCH_BYTES / MAX_BATCH_RECORDS - 1));
    await writer.append(many);
    expect(await events(readerAt(kafka()), 4)).toEqual(many);
    await writer.close();
  });

  it('that does not accept a batch of this size refuses it for good, and stores nothing of it', async () => {
    const writer = await journalAt(kafka()).open(5);
    await writer.append(['"small"']);
    await alter(kafka(), 5, { 'max.message.bytes': '1000' });
    const began = performance.now();
    await expect(writer.append(['x'.repeat(5_000)])).rejects.toBeInstanceOf(JournalUnavailable);
    expect(performance.now() - began).toBeLessThan(5_000);
    await alter(kafka(), 5, {});
    const heir = await journalAt(kafka()).open(5);
    await heir.append(['"heir"']);
    expect(await events(readerAt(kafka()), 5)).toEqual(['"small"', '"heir"']);
    await Promise.all([writer.close(), heir.close()]);
  });
});

describeWithKafka('a topic', { anyBrokers: true }, (kafka) => {
  it.each([
    ['cleanup.policy', 'compact'],
    ['message.timestamp.before.max.ms', '60000'],
  ])('whose %s is %s is refused with one line that says so', async (name, value) => {
    await (await topicsAt(kafka()).prepare(1)).close();
    await alter(kafka(), 1, { [name]: value });
    const refusal = expect(journalAt(kafka()).open(1)).rejects;
    await refusal.toMatchObject({
      name: 'TopicUnfit',
      exitCode: 78,
      message: expect.stringContaining(`${name} is ${value}`),
    });
    await alter(kafka(), 1, {});
    await (await journalAt(kafka()).open(1)).close();
  });

  it("accepts an append whatever the owner's clock says, unless configured to check it", async () => {
    const twoHours = 7_200_000_000_000n;
    const hasty: Clock = {
      epochNanos: () => clock.epochNanos() + twoHours,
      monotonicNanos: () => clock.monotonicNanos(),
      after: (millis, action) => clock.after(millis, action),
    };
    const log = new KafkajsLog(
      { brokers: kafka().addresses, clientId: 'test' },
      topicsAt(kafka()).nameOf(6),
      hasty,
    );
    await (await topicsAt(kafka()).prepare(6)).close();
    await alter(kafka(), 6, { 'message.timestamp.after.max.ms': '3600000' });
    const refusal = { name: 'SendRefused', message: 'INVALID_TIMESTAMP', isFinal: true };
    await expect(log.append([Buffer.from('a')], 5_000)).rejects.toMatchObject(refusal);
    await alter(kafka(), 6, {
      'message.timestamp.after.max.ms': '1000',
      'message.timestamp.type': 'LogAppendTime',
    });
    expect(await log.append([Buffer.from('a')], 5_000)).toBe(0);
    await (await topicsAt(kafka()).openFit(6)).close();
    expect((await log.fetch(0, 1_000)).map(({ value }) => String(value))).toEqual(['a']);
    await log.close();
  });

  it.each([
    ['first messages', 7, 5],
    ['messages', 8, -1],
  ])('whose %s are deleted while they are written acknowledges nothing more', async (_, shard, before) => {
    const writer = await journalAt(kafka()).open(shard);
    const reader = readerAt(kafka());
    const written: string[] = [];
    const going = (async () => {
      for (let at = 0; ; at += 1) {
        await writer.append([String(at)]);
        written.push(String(at));
      }
    })();
    const end = expect(going).rejects.toThrow(/its first \d+ messages are gone/);
    await eventually(() => expect(written.length).toBeGreaterThan(50));
    expect(await events(reader, shard)).not.toEqual([]);
    await deleteBefore(kafka(), shard, before);
    const { length } = written;
    await end;
    // Messages in flight while the deletion was answered.
    expect(written.length - length).toBeLessThan(20);
    expect(writer.health()).toMatchObject({ ok: false });
    await writer.close();
    await eventually(async () => {
      const head = (await reader.heads([shard])).get(shard) ?? 0;
      await expect(reader.read(shard, head, 1)).rejects.toBeInstanceOf(JournalCorrupt);
    });
  });

  it('that is deleted under its readers is an outage to them, not an empty journal', async () => {
    const writer = await journalAt(kafka()).open(4);
    await writer.append(['"a"']);
    await writer.close();
    const reader = readerAt(kafka());
    expect(await reader.read(4, 1, 10)).toHaveLength(2);
    await topicsAt(kafka()).remove(4);
    await eventually(async () => {
      await expect(reader.read(4, 3, 10)).rejects.toBeInstanceOf(JournalUnreadable);
    });
    await (await journalAt(kafka()).open(4)).close();
    await expect(reader.read(4, 3, 10)).rejects.toBeInstanceOf(JournalUnreadable);
    await reader.close();
  });
});
