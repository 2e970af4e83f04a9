import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, jest } from '@jest/globals';
import { JournalFenced } from '#libs/journal/journal-errors.js';
import type { KafkaJournal } from '#libs/journal/kafka/kafka-journal.js';
import { everything, events, range } from '#libs/testing/contracts/journal-subject.js';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka, type TestKafka } from '#libs/testing/kafka/test-kafka.js';
import { openProxy, type TcpProxy } from '#libs/testing/network/tcp-proxy.js';
import { journalAt, leaderOf, readerAt, topicsAt } from './access.js';
import { expectTruth, WriterProcess } from './writers.js';

jest.setTimeout(180_000);

const started: WriterProcess[] = [];

describeWithKafka('owners of one shard', { anyBrokers: true }, (kafka) => {
  afterEach(async () => {
    await Promise.all(started.splice(0).map((writer) => writer.kill()));
  });

  const start = (
    ...args: [shard: number, name: string, records: number, pauseMillis: number]
  ): WriterProcess => {
    const [shard, name, records, pauseMillis] = args;
    const writer = WriterProcess.start(kafka(), shard, name, { records, pauseMillis });
    started.push(writer);
    return writer;
  };

  it('are deposed in mid-append, wake up after the next one, and acknowledge nothing more', async () => {
    const writers: WriterProcess[] = [];
    let current = start(1, 'owner-0', 20, 0);
    for (const round of range(1, 5)) {
      await current.untilWritten(100 * round);
      current.signal('SIGSTOP');
      const heir = start(1, `owner-${round}`, 20, 0);
      await heir.untilWritten(100);
      const { length } = current.written;
      current.signal('SIGCONT');
      await current.untilEnded();
      expect(current.end?.name).toMatch(/^Journal(Fenced|Ambiguous)$/);
      // Lines from before the pause may still have been in flight; none was added since.
      expect(current.written.length - length).toBeLessThanOrEqual(20);
      writers.push(current);
      current = heir;
    }
    current.signal('SIGSTOP');
    await sleep(200);
    expectTruth(await everything(readerAt(kafka()), 1), [...writers, current]);
  });

  it('whose send is delayed send it again, and the late copy is ignored', async () => {
    const { proxy, journal } = await behindProxy(kafka(), 4);
    const writer = await journal.open(4);
    await writer.append(['"first"']);
    proxy.stall('to-server');
    expect((await writer.append(['"a"', '"b"'])).firstSequence).toBe(3);
    proxy.heal();
    const log = topicsAt(kafka()).open(4);
    await eventually(async () => expect(await log.end()).toBe(6), 10_000);
    expect((await writer.append(['"c"'])).firstSequence).toBe(5);
    expect(await events(readerAt(kafka()), 4)).toEqual(['"first"', '"a"', '"b"', '"c"']);
    await Promise.all([writer.close(), log.close()]);
    await proxy.close();
  });

  it('whose send is delayed until another has the shard are fenced, and nothing of it is stored', async () => {
    const { proxy, journal } = await behindProxy(kafka(), 5);
    const writer = await journal.open(5);
    await writer.append(['"first"']);
    proxy.stall('to-server');
    const late = expect(writer.append(['"late"'])).rejects.toBeInstanceOf(JournalFenced);
    const heir = await journalAt(kafka()).open(5);
    await late;
    proxy.heal();
    await sleep(300);
    await heir.append(['"heir"']);
    expect(await events(readerAt(kafka()), 5)).toEqual(['"first"', '"heir"']);
    await Promise.all([writer.close(), heir.close()]);
    await proxy.close();
  });

  it('are read by an owner, a projector, a gateway and a verifier at once, all with the same result', async () => {
    const writer = start(6, 'writer', 25, 1);
    await writer.untilWritten(100);
    const readers = range(1, 4).map(() => readerAt(kafka()));
    const seen = readers.map(() => [] as string[]);
    const follow = readers.map(async (reader, index) => {
      for (let from = 1; from < 4_000;) {
        const page = await reader.read(6, from, 100 * (index + 1));
        seen[index]?.push(...page.map(({ hash }) => hash));
        from += page.length;
        if (page.length === 0) await sleep(5);
      }
    });
    await Promise.all(follow);
    const shortest = Math.min(...seen.map(({ length }) => length));
    expect(new Set(seen.map((hashes) => hashes.slice(0, shortest).join())).size).toBe(1);
    await Promise.all(readers.map((reader) => reader.close()));
  });
});

/** A proxy before the broker that leads the shard. */
async function behindProxy(
  kafka: TestKafka,
  shard: number,
): Promise<{ proxy: TcpProxy; journal: KafkaJournal }> {
  await (await topicsAt(kafka).prepare(shard)).close();
  const target = await leaderOf(kafka, shard);
  const proxy = await openProxy({ target });
  const journal = journalAt(kafka, {
    readWithinMillis: 500,
    socketFactory: ({ host, port, onConnect }) =>
      connect(port === target.port ? { host: '127.0.0.1', port: proxy.port } : { host, port }, onConnect),
  });
  return { proxy, journal };
}
