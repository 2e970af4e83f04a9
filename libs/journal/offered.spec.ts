import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { linkEvent } from './hash-chain.js';
import type { JournalEntry, JournalReader, JournalWriter } from './journal.js';
import { Offered, type OfferedEvents } from './offered.js';
import { tail, type JournalTail } from './tail.js';

const SHARD = 0;
/** Long enough to poll only when the test asks for it. */
const NEVER = { min: 3_600_000, max: 3_600_000 };

const clock = new MovableClock();
let store: MemoryJournalStore;
let writer: JournalWriter;
let following: JournalTail;
let reads: number;
let taken: JournalEntry[];
let failures: unknown[];

async function settled(): Promise<void> {
  for (let turns = 0; turns < 8; turns += 1) await turn();
}

async function follow(): Promise<void> {
  const reader: JournalReader = {
    read: (...asked) => {
      reads += 1;
      return store.read(...asked);
    },
    entries: (...asked) => store.entries(...asked),
    heads: () => store.heads(),
  };
  following = tail({
    reader,
    clock,
    positions: new Map([[SHARD, 0]]),
    onEntries: (_, entries) => {
      taken.push(...entries);
    },
    onFailure: (error) => failures.push(error),
    pollMillis: NEVER,
  });
  await settled();
}

beforeEach(async () => {
  store = new MemoryJournalStore();
  [reads, taken, failures] = [0, [], []];
  writer = await new MemoryJournal(store).open(SHARD);
  await follow();
});
afterEach(() => following.stop());

/** Appends as an owner, and returns the events to offer. */
async function appended(...payloads: string[]): Promise<OfferedEvents> {
  const { hashes } = await writer.append(payloads);
  const { sequence: head, epoch } = writer.head;
  return { head, epoch, hash: hashes.at(-1)!, payloads };
}

async function everything(): Promise<JournalEntry[]> {
  return await store.read(SHARD, 1, 10_000);
}

describe('events that an owner offers', () => {
  it('are taken exactly as they are in the journal, without reading it', async () => {
    for (const payloads of [['1'], ['2', '"ä"'], ['4']]) following.offer(SHARD, await appended(...payloads));
    await settled();
    expect(taken).toEqual(await everything());
    expect([taken.length, following.position(SHARD), reads]).toEqual([5, 5, 1]);
  });

  it('are not taken before the turn of the event loop in which they came has ended', async () => {
    const offered = await appended('1');
    following.offer(SHARD, offered);
    await Promise.resolve();
    expect(taken).toHaveLength(1);
    await settled();
    expect(taken).toHaveLength(2);
  });

  it('wait for unknown earlier records, which are read from the journal', async () => {
    await appended('1');
    following.offer(SHARD, await appended('2'));
    await settled();
    following.offer(SHARD, await appended('3'));
    await settled();
    expect([taken, reads]).toEqual([await everything(), 2]);
  });

  it('are ignored by a tail that has read nothing yet: it reads the journal', async () => {
    await following.stop();
    taken = [];
    following = tail({
      reader: store,
      clock,
      positions: new Map([[SHARD, 1]]),
      onEntries: (_, entries) => {
        taken.push(...entries);
      },
      onFailure: (error) => failures.push(error),
      pollMillis: NEVER,
    });
    following.offer(SHARD, await appended('1'));
    await settled();
    expect(taken).toEqual((await everything()).slice(1));
  });

  it.each<[string, (offered: OfferedEvents) => Partial<OfferedEvents>]>([
    ['another text', () => ({ payloads: ['"forged"'] })],
    ['another hash', () => ({ hash: 'ab'.repeat(32) })],
    ['another epoch', ({ epoch }) => ({ epoch: epoch + 1 })],
    ['more events than there are', ({ payloads }) => ({ payloads: ['0', ...payloads] })],
    ['nothing', () => ({ payloads: [] })],
  ])('are not trusted with %s: the journal is read', async (_, otherwise) => {
    const offered = await appended('1');
    following.offer(SHARD, { ...offered, ...otherwise(offered) });
    await settled();
    expect([taken, failures]).toEqual([await everything(), []]);
    expect(reads).toBe(2);
  });

  it('are not trusted while the journal is damaged', async () => {
    const first = await appended('1');
    const { records } = store.shard(SHARD);
    const sound = records[1]!;
    records[1] = { ...sound, payload: '"changed"' };
    following.hint(SHARD, 2);
    await settled();
    expect(failures).toEqual([expect.objectContaining({ name: 'JournalCorrupt', sequence: 2 })]);
    following.offer(SHARD, first);
    clock.leap(1_000);
    following.hint(SHARD, 2);
    await settled();
    expect([taken.length, failures.length]).toEqual([1, 2]);
    records[1] = sound;
    clock.leap(1_000);
    following.offer(SHARD, first);
    await settled();
    expect(taken).toEqual(await everything());
  });

  it('are dropped if too many wait, and are then read from the journal', async () => {
    const [before] = await everything();
    const some = Array.from({ length: 9 }, () => 'x'.repeat(1_000_000));
    const many = Array.from({ length: 4_100 }, () => '1');
    for (const [payloads, isKept] of [
      [some.slice(0, 8), true],
      [some, false],
      [many.slice(0, 4_000), true],
      [many, false],
    ] as const) {
      let { sequence: head, hash } = before!;
      const offered = new Offered();
      for (const payload of payloads) {
        const entry = linkEvent(SHARD, { ...before!, sequence: head, hash }, payload);
        ({ sequence: head, hash } = entry);
        offered.put({ head, epoch: entry.epoch, hash, payloads: [payload] });
      }
      expect(offered.behind(SHARD, before!) !== undefined).toBe(isKept);
    }
  });
});

it('events are taken once, in order and unchanged, whatever is offered, lost, repeated or late', async () => {
  const told = fc.record({
    records: fc.integer({ min: 1, max: 4 }),
    fate: fc.constantFrom('offered', 'hinted', 'lost', 'twice', 'late', 'forged'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(told, { minLength: 1, maxLength: 25 }), async (appends) => {
      taken = [];
      await following.stop();
      await follow();
      let late: OfferedEvents[] = [];
      for (const { records, fate } of appends) {
        const offered = await appended(...Array.from({ length: records }, (_, at) => `"${fate} ${at}"`));
        if (fate === 'late') late.push(offered);
        if (fate === 'hinted') following.hint(SHARD, offered.head);
        if (fate === 'forged')
          following.offer(SHARD, { ...offered, payloads: offered.payloads.map(() => '0') });
        if (fate === 'offered' || fate === 'twice') following.offer(SHARD, offered);
        if (fate === 'twice') {
          for (const each of [offered, ...late]) following.offer(SHARD, each);
          late = [];
        }
        if (records > 2) await settled();
      }
      following.hint(SHARD, writer.head.sequence);
      await settled();
      expect(taken).toEqual(await everything());
    }),
    { numRuns: 60 },
  );
});
