import { afterEach, expect, it, jest } from '@jest/globals';
import type { JournalWriter } from '#libs/journal/journal.js';
import { surveyTopic } from '#libs/journal/kafka/topic-survey.js';
import { pause } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { events } from '#libs/testing/contracts/journal-subject.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { alter, journalAt, readerAt, topicsAt } from './access.js';

jest.setTimeout(120_000);

const SHARD = 1;
const IN_EACH = 40;
/** Longer than a writer goes on without looking whether its last record still stands. */
const LOOKED_FOR_MILLIS = 600;
const clock = new SystemClock();

describeWithKafka(
  'a topic whose compression somebody alters while it is written to',
  { anyBrokers: true },
  (kafka) => {
    const writers: JournalWriter[] = [];
    afterEach(() => Promise.all(writers.splice(0).map((writer) => writer.close())));
    const open = async (): Promise<JournalWriter> => {
      const writer = await journalAt(kafka()).open(SHARD);
      writers.push(writer);
      return writer;
    };

    it('keeps every record, whichever codec it was, and its owner goes on', async () => {
      const writer = await open();
      const follower = readerAt(kafka());
      const written: string[] = [];
      const append = async (name: string): Promise<void> => {
        for (let at = 0; at < IN_EACH; at += 1) {
          const payloads = Array.from({ length: 1 + (at % 5) }, (_, n) => JSON.stringify({ name, at, n }));
          await writer.append(payloads);
          written.push(...payloads);
        }
      };
      for (const codec of ['gzip', 'snappy', 'lz4', 'zstd', 'producer']) {
        await Promise.all([alter(kafka(), SHARD, { 'compression.type': codec }), append(`before ${codec}`)]);
        await append(codec);
        expect(await events(follower, SHARD)).toEqual(written);
        await pause(clock, LOOKED_FOR_MILLIS);
      }
      await append('at last');
      expect(writer.health()).toEqual({ ok: true });
      await writer.close();
      expect(await events(readerAt(kafka()), SHARD)).toEqual(written);
      const log = topicsAt(kafka()).open(SHARD);
      expect(await surveyTopic(SHARD, log)).toMatchObject({
        records: 1 + written.length,
        late: 0,
        doubled: 0,
      });
      await log.close();
      const heir = await open();
      await heir.append(['"heir"']);
      expect(await events(readerAt(kafka()), SHARD)).toEqual([...written, '"heir"']);
    });
  },
);
