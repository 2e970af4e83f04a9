import { describe, expect, it } from '@jest/globals';
import { JournalCorrupt, JournalUnreadable } from '#libs/journal/journal-errors.js';
import type { BareReader } from '#libs/journal/journal.js';
import { MemoryShards } from '#libs/testing/kafka/memory-shards.js';
import type { DumpFilter } from './call.js';
import { dump, type DumpEnd } from './dump.js';

const SHARDS = [0, 1, 2];
const DAMAGED = 1;
const ALL: DumpFilter = { from: 1, to: Infinity, raw: false };

/** `shard/sequence` of every line, and every damage at its place among them, with the raw record. */
async function dumped(reader: BareReader, filter: Partial<DumpFilter> = {}) {
  const output: string[] = [];
  const take = (text: string): Promise<boolean> => {
    for (const line of text.split('\n').slice(0, -1)) {
      const { shard, sequence, damaged, offset, payload } = JSON.parse(line) as Record<string, string>;
      output.push(damaged === undefined ? `${shard}/${sequence}` : `${damaged} (${offset}: ${payload})`);
    }
    return Promise.resolve(true);
  };
  const end: DumpEnd = await dump(reader, SHARDS, { ...ALL, ...filter }, take, ({ message }) => {
    output.push(message);
  });
  return { end, output };
}

function lines(shard: number, from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `${shard}/${from + index}`);
}

describe('a dump', () => {
  it('shows the records before damage, reports where it is, and continues with the other shards', async () => {
    const made = await MemoryShards.of(SHARDS, 10);
    made.topic(DAMAGED).replace([...made.topic(DAMAGED).content(), Buffer.from('garbage')]);
    expect(await dumped(made.reader())).toEqual({
      end: 'damaged',
      output: [
        ...lines(0, 1, 11),
        ...lines(1, 1, 11),
        'journal of shard 1 is corrupt at sequence 12: offset 11 of its topic holds no record',
        'journal of shard 1 is corrupt at sequence 12: offset 11 of its topic holds no record (11: garbage)',
        ...lines(2, 1, 11),
      ],
    });
  });

  it('does so also if the requested range begins within the damaged page', async () => {
    const made = await MemoryShards.of(SHARDS, 1_500);
    const values = [...made.topic(DAMAGED).content()];
    values[1_204] = Buffer.from('garbage');
    made.topic(DAMAGED).replace(values);
    const { end, output } = await dumped(made.reader(), { from: 1_100, to: 1_300 });
    expect(end).toBe('damaged');
    expect(output.filter((line) => line.startsWith('1/'))).toEqual(lines(1, 1_100, 1_204));
    const damagedLines = output.filter((line) => line.startsWith('journal of shard 1'));
    expect(damagedLines.slice(1, 4)).toEqual([
      expect.stringContaining('(1204: garbage)'),
      expect.stringContaining('(1205: "1204")'),
      expect.stringContaining('(1206: "1205")'),
    ]);
    expect(damagedLines).toHaveLength(1 + 1 + 1_300 - 1_205);
    const asked = await dumped(made.reader(), { from: 1_100, kind: 'event' });
    expect(asked.output.some((line) => line.includes('garbage'))).toBe(false);
    expect(output.filter((line) => line.startsWith('2/'))).toEqual(lines(2, 1_100, 1_300));
    expect((await dumped(made.reader(), { to: 1_204 })).end).toBe('sound');
  });

  it('shows the other shards if one cannot be read, and does not report damage', async () => {
    const sound = (await MemoryShards.of(SHARDS, 10)).reader();
    const away: BareReader = {
      ...sound,
      read: (shard, from, limit) =>
        shard === DAMAGED
          ? Promise.reject(new JournalUnreadable('journal of shard 1 cannot be read: away'))
          : sound.read(shard, from, limit),
    };
    expect(await dumped(away)).toEqual({
      end: 'unread',
      output: [...lines(0, 1, 11), 'journal of shard 1 cannot be read: away', ...lines(2, 1, 11)],
    });
  });

  it('ends early if the reader leaves, and throws if lines cannot be written', async () => {
    const reader = (await MemoryShards.of(SHARDS, 2_500)).reader();
    let pages = 0;
    const leave = (): Promise<boolean> => Promise.resolve((pages += 1) < 2);
    expect(await dump(reader, SHARDS, ALL, leave, () => undefined)).toBe('sound');
    expect(pages).toBe(2);
    const full = (): Promise<boolean> => Promise.reject(new Error('no space left'));
    await expect(dump(reader, SHARDS, ALL, full, () => undefined)).rejects.toThrow('no space left');
  });

  it('reads as far if the error names an earlier record', async () => {
    const made = await MemoryShards.of(SHARDS, 50);
    const sound = made.reader();
    const twice: BareReader = {
      heads: () => sound.heads(),
      entries: (shard, sequences) => sound.entries(shard, sequences),
      unchecked: () => Promise.resolve([]),
      read: (shard, from, limit) => {
        if (shard !== DAMAGED || from + limit - 1 < 38) return sound.read(shard, from, limit);
        return Promise.reject(new JournalCorrupt(shard, 5, 'the sequence appears twice'));
      },
    };
    const { end, output } = await dumped(twice);
    expect([end, output.filter((line) => line.startsWith('1/'))]).toEqual(['damaged', lines(1, 1, 37)]);
    expect(output.filter((line) => line.includes('corrupt'))).toHaveLength(1);
  });
});
