import { describe, expect, it } from '@jest/globals';
import { JournalUnreadable } from '#libs/journal/journal-errors.js';
import type { JournalReader } from '#libs/journal/journal.js';
import type { StoreKind } from '#libs/journal/stores/journal-store.js';
import { KafkaJournalReader } from '#libs/journal/kafka/kafka-reader.js';
import { MemoryShards } from '#libs/testing/kafka/memory-shards.js';
import { MemoryTopic } from '#libs/testing/kafka/memory-topic.js';
import { comparedDocument, comparedLine, compareShards, hasNoneInKafka, outcomeOf } from './compare.js';

const SHARDS = [0, 1, 2];
const DAMAGED = 1;
const EVENTS = 10;

async function compared(
  postgres: JournalReader,
  kafka: JournalReader,
  home: StoreKind = 'kafka',
  areKnown = false,
) {
  const found = await compareShards({ postgres, kafka }, SHARDS, () => undefined);
  return {
    outcome: outcomeOf(found, home),
    hasNone: hasNoneInKafka(found, areKnown),
    lines: found.map((one) => comparedLine(one, home)),
    documents: found.map(comparedDocument),
  };
}

const ALIKE = `${EVENTS + 1} records alike; 0 more in postgres, 0 in kafka`;

describe('two copies of the journals', () => {
  it('are compared shard by shard, even if one is damaged, and its store is named', async () => {
    const made = await MemoryShards.of(SHARDS, EVENTS);
    const postgres = (await MemoryShards.of(SHARDS, EVENTS)).reader();
    expect((await compared(postgres, made.reader())).outcome).toBe('alike');
    made.topic(DAMAGED).damage(5);
    const { outcome, lines, documents } = await compared(postgres, made.reader());
    expect(outcome).toBe('damaged or different');
    expect(lines).toEqual([
      `shard 0: ${ALIKE}`,
      'shard 1: DAMAGED in kafka: journal of shard 1 is corrupt at sequence 6: offset 5 of its topic cannot be read',
      `shard 2: ${ALIKE}`,
    ]);
    expect(documents[DAMAGED]).toEqual({
      shard: DAMAGED,
      store: 'kafka',
      trouble: 'journal of shard 1 is corrupt at sequence 6: offset 5 of its topic cannot be read',
    });
  });

  it('may end earlier in the store they were moved from, but not where they are kept', async () => {
    const [longer, shorter] = [
      (await MemoryShards.of(SHARDS, EVENTS + 3)).reader(),
      (await MemoryShards.of(SHARDS, EVENTS)).reader(),
    ];
    expect((await compared(shorter, longer, 'kafka')).outcome).toBe('alike');
    expect((await compared(longer, shorter, 'postgres')).outcome).toBe('alike');
    expect((await compared(shorter, longer, 'postgres')).outcome).toBe('damaged or different');
    const { outcome, lines } = await compared(longer, shorter, 'kafka');
    expect(outcome).toBe('damaged or different');
    expect(lines[0]).toBe(
      'shard 0: 11 records alike; 3 more in postgres, 0 in kafka: the journals are in kafka, which LACKS them',
    );
  });

  it('do not exist if Kafka has nothing of any shard', async () => {
    const made = (await MemoryShards.of(SHARDS, EVENTS)).reader();
    const empty = new KafkaJournalReader({
      family: 'auction',
      openLog: () => new MemoryTopic().open(),
      shards: SHARDS,
    });
    expect((await compared(made, empty)).hasNone).toBe(true);
    expect((await compared(made, made)).hasNone).toBe(false);
    expect((await compared(empty, made)).hasNone).toBe(false);
    expect((await compared(empty, empty)).hasNone).toBe(false);
    expect((await compared(empty, empty, 'kafka', true)).hasNone).toBe(true);
  });

  it('are not reported as different if one of them cannot be read at present', async () => {
    const sound = (await MemoryShards.of(SHARDS, EVENTS)).reader();
    const away: JournalReader = {
      entries: (...args) => sound.entries(...args),
      // Fails for all shards at once.
      heads: () => Promise.reject(new JournalUnreadable('journal of shard 1 cannot be read: away')),
      read: (shard, ...rest) =>
        shard === DAMAGED
          ? Promise.reject(new JournalUnreadable('journal of shard 1 cannot be read: away'))
          : sound.read(shard, ...rest),
    };
    const { outcome, lines } = await compared(away, sound);
    expect(outcome).toBe('unread');
    expect(lines).toEqual([
      `shard 0: ${ALIKE}`,
      'shard 1: NOT READ in postgres: journal of shard 1 cannot be read: away',
      `shard 2: ${ALIKE}`,
    ]);
  });
});
