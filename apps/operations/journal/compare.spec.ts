import { describe, expect, it } from '@jest/globals';
import { JournalUnreadable } from '#libs/journal/journal-errors.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { MemoryShards } from '#libs/testing/kafka/memory-shards.js';
import { comparedDocument, comparedLine, compareShards, outcomeOf } from './compare.js';

const SHARDS = [0, 1, 2];
const DAMAGED = 1;
const EVENTS = 10;

async function compared(postgres: JournalReader, kafka: JournalReader) {
  const found = await compareShards({ postgres, kafka }, SHARDS, () => undefined);
  return {
    outcome: outcomeOf(found),
    lines: found.map(comparedLine),
    documents: found.map(comparedDocument),
  };
}

const ALIKE = `${EVENTS + 1} records alike; 0 more in postgres, 0 in kafka`;

describe('two copies of the journals', () => {
  it('are held against each other shard by shard, also where one is damaged, and its store is named', async () => {
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

  it('are not said to differ where one of them cannot be read for now', async () => {
    const sound = (await MemoryShards.of(SHARDS, EVENTS)).reader();
    const away: JournalReader = {
      entries: (...asked) => sound.entries(...asked),
      // Of all shards or of none.
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
