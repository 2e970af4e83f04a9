import { expect, it } from '@jest/globals';
import { JournalUnreadable } from '#libs/journal/journal-errors.js';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';
import { eventsOf, JournalWorld, SHARD } from '#libs/testing/kafka/journal-world.js';
import { verdictLines } from './verdict-text.js';
import { walkShard, type Walk } from './walk-shard.js';

const EVENTS = 20;

async function written(): Promise<JournalWorld> {
  const world = new JournalWorld();
  const writer = await world.open();
  for (let event = 0; event < EVENTS; event += 1) await writer.append([`"${event}"`]);
  await writer.close();
  return world;
}

async function walked(reader: JournalReader): Promise<{ walk: Walk; entries: JournalEntry[] }> {
  const entries: JournalEntry[] = [];
  const walk = await walkShard(
    { family: 'auction', shard: SHARD },
    {
      reader,
      marks: [],
      reservingEpoch: 0,
      tell: () => undefined,
      onEntries: (page) => entries.push(...page),
    },
  );
  return { walk, entries };
}

function linesOf(walk: Walk, damaged: boolean): string[] {
  const seals = { sealed_from: null, found: 0, by_former_keys: null, last_sealed: null };
  const shards = [
    { ...walk, rules: undefined, seals, survey: undefined, histories: undefined, sealed_behind: undefined },
  ];
  const notCompared = { projections: undefined, reservations: undefined, ledger: undefined };
  return verdictLines({ sound: false, damaged, store: 'kafka', is_home: true, shards, ...notCompared });
}

it('a damaged shard is read up to the damage, so that the records before it are checked too', async () => {
  const world = await written();
  world.topic.damage(9);
  const { walk, entries } = await walked(world.reader());
  expect(walk).toMatchObject({ records: 9, isRead: false, unread: undefined });
  expect(walk.faults).toEqual([expect.stringContaining('is corrupt at sequence 10')]);
  expect(eventsOf(entries)).toHaveLength(8);
  expect(linesOf(walk, true).at(-1)).toBe('DAMAGED: see above');
  await world.close();
});

it('a shard that cannot be read at present is reported neither as damaged nor as sound', async () => {
  const world = await written();
  const sound = world.reader();
  const away: JournalReader = {
    entries: (...args) => sound.entries(...args),
    heads: () => sound.heads(),
    read: () => Promise.reject(new JournalUnreadable('journal of shard 0 cannot be read: away')),
  };
  const { walk } = await walked(away);
  expect(walk).toMatchObject({
    faults: [],
    isRead: false,
    unread: 'journal of shard 0 cannot be read: away',
  });
  expect(linesOf(walk, false)).toEqual([
    'shard 0: NOT READ after record 0: journal of shard 0 cannot be read: away',
    expect.stringContaining('NOT ALL WAS READ'),
  ]);
  await world.close();
});
