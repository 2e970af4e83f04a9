import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { everything } from '#libs/testing/contracts/journal-subject.js';
import { KeptJournals } from '#libs/testing/kafka/kept-journals.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { linkEvent } from '../hash-chain.js';
import type { JournalEntry, JournalHead, JournalWriter } from '../journal.js';
import { encodeRecord } from '../kafka/record-format.js';
import { moveJournals } from '../moving/move-journals.js';
import { RecordMacs } from './record-macs.js';
import { JournalUnsealed } from './sealed-end.js';

jest.setTimeout(60_000);

const SHARD = 0;
const OLD = Buffer.alloc(32, 1);
const clock = new SystemClock();

/** Forgeries come from a process that may write to the topics, and has no key. */
describeWithKafka('a topic with MACs', { anyBrokers: true }, (kafka) => {
  let journals: KeptJournals;
  beforeEach(async () => {
    journals = await KeptJournals.begin(kafka(), [SHARD]);
  });
  afterEach(() => journals.dispose());

  const owner = async (...keys: readonly Buffer[]): Promise<JournalWriter> =>
    await journals.owner(SHARD, await journals.store({ keys, kind: 'kafka' }));
  const forge = async (head: JournalHead, seal?: Buffer): Promise<void> => {
    const log = journals.topics.open(SHARD);
    const seals = seal === undefined ? new Map<number, Buffer>() : new Map([[0, seal]]);
    await log.append([encodeRecord(linkEvent(SHARD, head, '"forged"'), undefined)], 5_000, seals);
    await log.close();
  };
  const found = async (): Promise<JournalEntry[]> =>
    await everything((await journals.store({ keys: [], kind: 'kafka' })).bareReader, SHARD);
  const sealedFrom = async (): Promise<number | undefined> =>
    (await journals.database.pool.query<{ sequence: number }>('select sequence from journal.sealed')).rows[0]
      ?.sequence;

  it('has its MACs in message headers, from the first message on', async () => {
    const writer = await owner(OLD);
    await writer.append(['"a"', '"b"']);
    const records = await found();
    expect(records.map(({ seal }) => seal !== undefined)).toEqual([true, false, true]);
    expect(new RecordMacs('auction', [OLD]).isGood(records[2]!, records[2]!.seal!)).toBe(true);
    expect(await sealedFrom()).toBe(1);
  });

  it('gets no record after one with an invented MAC, although its hash is right', async () => {
    const writer = await owner(OLD);
    await writer.append(['"a"', '"b"']);
    await writer.close();
    await forge(writer.head, Buffer.alloc(32));
    await expect(owner(OLD)).rejects.toMatchObject({ exitCode: EXIT.damaged });
    await expect(owner(OLD)).rejects.toBeInstanceOf(JournalUnsealed);
    expect(await found()).toHaveLength(4);
  });

  it('continues once it is recreated without the forged end, as docs/operate/journals.md says', async () => {
    const writer = await owner(OLD);
    await writer.append(['"a"', '"b"']);
    await writer.append(['"c"']);
    await writer.close();
    await forge({ ...writer.head, hash: 'ab'.repeat(32) });
    await expect(owner(OLD)).rejects.toMatchObject({
      exitCode: EXIT.damaged,
      message: expect.stringMatching(
        /known to have written is 4\. .*no owner has written the records from 5 on/,
      ),
    });
    const { bareReader } = await journals.store({ keys: [], kind: 'kafka' });
    await expect(bareReader.read(SHARD, 5, 1)).rejects.toThrow('corrupt at sequence 5');
    const [shown] = await bareReader.unchecked(SHARD, 5, 10);
    expect(shown).toMatchObject({ offset: 4, sequence: 5, payload: '"forged"' });

    const kept = (await journals.content(SHARD)).slice(0, shown!.offset);
    await journals.replace(SHARD, kept);
    const successor = await owner(OLD);
    expect(successor.head.sequence).toBe(5);
    await successor.append(['"d"']);
    expect(
      (await found())
        .slice(0, 4)
        .map(({ payload }) => payload)
        .slice(1),
    ).toEqual(['"a"', '"b"', '"c"']);
  });

  it('is not written without a key', async () => {
    await expect(owner()).rejects.toThrow('ID_KEY is not set');
  });

  it('keeps its MACs in moves, in both directions', async () => {
    const writer = await owner(OLD);
    await writer.append(['"a"', '"b"']);
    await writer.close();
    await journals.close();
    const before = (await found()).map(({ seal }) => seal);
    for (const [from, to] of [
      ['kafka', 'postgres'],
      ['postgres', 'kafka'],
    ] as const) {
      const keys = [OLD];
      const [source, target] = [
        await journals.store({ keys, kind: from }),
        await journals.store({ keys, kind: to }),
      ];
      const move = { databaseUrl: journals.database.url, clock, shards: [SHARD], opener: 'mover' };
      await moveJournals({ family: 'auction', ...move, from: source, to: target });
      const records = await everything(target.bareReader, SHARD);
      expect(records.slice(0, before.length).map(({ seal }) => seal)).toEqual(before);
      expect(records.at(-1)?.seal).toBeDefined();
    }
    expect((await owner(OLD)).head.sequence).toBe(6);
    const mover = await journals.store({ keys: [], kind: 'kafka' });
    await expect(mover.journalOfMover('mover').open(SHARD)).rejects.toThrow('ID_KEY is not set');
  });
});
