import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pause } from '#libs/platform/time/clock.js';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { until } from '#libs/testing/contracts/journal-subject.js';
import { KeptJournals } from '#libs/testing/kafka/kept-journals.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import type { LogMessage } from '../kafka/topic-log.js';
import type { JournalWriter } from '../journal.js';
import { JournalFailure } from '../journal-errors.js';
import { KafkaJournal } from '../kafka/kafka-journal.js';
import type { JournalStore } from './journal-store.js';

jest.setTimeout(60_000);

const SHARD = 0;
/** Longer than a writer relies on its last check. */
const SILENT_MILLIS = 300;
const clock = new SystemClock();

/** Deletes a topic and recreates it with other content. */
describeWithKafka('a replaced topic', { anyBrokers: true }, (kafka) => {
  let journals: KeptJournals;
  beforeEach(async () => {
    journals = await KeptJournals.begin(kafka(), [SHARD]);
  });
  afterEach(() => journals.dispose());

  const write = (...payloads: readonly string[]): Promise<void> => journals.write(...payloads);
  const content = (): Promise<LogMessage[]> => journals.content(SHARD);
  const replace = (messages: readonly LogMessage[]): Promise<void> => journals.replace(SHARD, messages);
  /** The records of a journal of another database. */
  const foreign = async (records: number): Promise<LogMessage[]> => {
    const others = journals.topicsAt(`${journals.prefix}others.`);
    const writer = await new KafkaJournal({
      family: 'auction',
      openLog: (shard) => others.prepare(shard),
      clock,
      opener: 'stranger',
    }).open(SHARD);
    await writer.append(Array.from({ length: records - 1 }, (_, index) => `"${index}"`));
    await writer.close();
    return await journals.content(SHARD, others);
  };

  it('is recognized by the offset of the last known record', async () => {
    await write('"a"', '"b"');
    const { rows } = await journals.database.pool.query('select epoch, log_offset from journal.witness');
    expect(rows).toEqual([{ epoch: 1, log_offset: 2 }]);
  });

  it('is opened by a database that knows no offset yet, which learns it', async () => {
    await write('"a"');
    await journals.database.pool.query('update journal.witness set epoch = null, log_offset = null');
    await write('"b"');
    const { rows } = await journals.database.pool.query(
      'select epoch, sequence, log_offset from journal.witness',
    );
    expect(rows).toEqual([{ epoch: 2, sequence: 4, log_offset: 3 }]);
  });

  describe('while its owner is stopped', () => {
    it.each([
      ['more foreign records than there were own ones', async () => foreign(9)],
      ['its own records at other offsets', async () => [(await foreign(2))[0]!, ...(await content())]],
    ])('blocks every start: %s', async (_, made) => {
      await write('"a"', '"b"');
      const values = await made();
      await replace(values);
      const own = await journals.store();
      const refusal = {
        exitCode: EXIT.damaged,
        message: expect.stringContaining('is not the one that this'),
      };
      for (const start of [
        journals.owner(SHARD, own),
        own.prepare(),
        own.reader.heads(),
        own.reader.read(SHARD, 1, 9),
      ]) {
        await expect(start).rejects.toMatchObject(refusal);
      }
      expect(await content()).toHaveLength(values.length);
    });

    it('blocks a start from its end if another journal continues after the known record', async () => {
      await write('"a"', '"b"');
      await replace([...(await content()), ...(await foreign(24)).slice(3)]);
      const own = await journals.store();
      await expect(journals.owner(SHARD, own)).rejects.toThrow('is corrupt at sequence 4');
      await expect(own.reader.read(SHARD, 1, 99)).rejects.toThrow('is corrupt at sequence 4');
      expect(await content()).toHaveLength(24);
    });
  });

  describe('while its owner runs', () => {
    /** Three records were written, then nothing for a while. The topic was replaced then. */
    const replacedUnder = async (records: number): Promise<{ writer: JournalWriter; own: JournalStore }> => {
      const values = await foreign(Math.max(2, records));
      const own = await journals.store();
      const writer = await journals.owner(SHARD, own);
      await writer.append(['"a"', '"b"']);
      expect((await own.reader.heads()).get(SHARD)).toBe(3);
      await replace(values.slice(0, records));
      return { writer, own };
    };

    it.each([0, 8])('acknowledges nothing more: %d foreign records', async (records) => {
      const { writer } = await replacedUnder(records);
      await pause(clock, SILENT_MILLIS);
      await expect(writer.append(['"c"'])).rejects.toBeInstanceOf(JournalFailure);
      expect(writer.health()).toMatchObject({ ok: false });
    });

    it.each([0, 8])('allows no more reads: %d foreign records', async (records) => {
      const { writer, own } = await replacedUnder(records);
      await expect(writer.confirm()).rejects.toBeInstanceOf(JournalFailure);
      const readAll = async (): Promise<void> => {
        for (let look = 0; look < 12; look += 1) {
          const head = (await own.reader.heads()).get(SHARD) ?? 0;
          await own.reader.read(SHARD, head, 1);
        }
      };
      await expect(readAll()).rejects.toThrow(/is not the one that was read|before what was read|is corrupt/);
    });

    it('is noticed by an idle owner', async () => {
      const { writer } = await replacedUnder(3);
      await until(clock, () => !writer.health().ok);
      expect(writer.health()).toMatchObject({
        reason: expect.stringContaining('not the one that was written'),
      });
    });

    it('is not suspected if nothing has happened', async () => {
      const writer = await journals.owner(SHARD);
      await writer.append(['"a"']);
      await pause(clock, 2_500);
      await writer.append(['"b"']);
      await writer.confirm();
      expect(writer.health()).toEqual({ ok: true });
    });
  });
});
