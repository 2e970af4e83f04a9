import { afterEach, describe, expect, it } from '@jest/globals';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import type { JournalEntry, JournalReader, JournalWriter } from './journal.js';
import { JournalCorrupt } from './journal-errors.js';
import { tail, type JournalTail, type TailOptions } from './tail.js';

/** A clock that moves only when the test says so. */
class ManualClock implements Clock {
  private now = 0;
  private timers = new Set<{ readonly at: number; readonly action: () => void }>();

  epochNanos(): bigint {
    return this.monotonicNanos();
  }

  monotonicNanos(): bigint {
    return BigInt(this.now) * 1_000_000n;
  }

  after(millis: number, action: () => void): Cancel {
    const timer = { at: this.now + millis, action };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  async pass(millis: number): Promise<void> {
    for (const end = this.now + millis; this.now < end; this.now += 1) {
      for (const timer of this.timers) {
        if (timer.at > this.now + 1) continue;
        this.timers.delete(timer);
        timer.action();
      }
      await settle();
    }
  }
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const tails: JournalTail[] = [];
afterEach(() => Promise.all(tails.splice(0).map((each) => each.stop())));

class Stage {
  readonly clock = new ManualClock();
  readonly store = new MemoryJournalStore();
  readonly taken: string[] = [];
  readonly failures: unknown[] = [];
  polls = 0;

  readonly reader: JournalReader = {
    read: (shard, from, limit) => this.store.read(shard, from, limit),
    entries: (shard, sequences) => this.store.entries(shard, sequences),
    heads: () => {
      this.polls += 1;
      return this.store.heads();
    },
  };

  open(shard: number): Promise<JournalWriter> {
    return new MemoryJournal(this.store).open(shard);
  }

  follow(options: Partial<TailOptions> = {}): JournalTail {
    const following = tail({
      reader: this.reader,
      clock: this.clock,
      positions: new Map([[0, 0]]),
      onEntries: (shard, entries) => this.take(shard, entries),
      onFailure: (error) => this.failures.push(error),
      pollMillis: { min: 10, max: 80 },
      ...options,
    });
    tails.push(following);
    return following;
  }

  take(shard: number, entries: readonly JournalEntry[]): void {
    this.taken.push(...entries.map(({ sequence }) => `${shard}:${sequence}`));
  }
}

function numbers(shard: number, from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `${shard}:${from + index}`);
}

describe('a tail', () => {
  it('delivers existing and new entries, once and in order, in bounded batches', async () => {
    const stage = new Stage();
    const writer = await stage.open(0);
    await writer.append(Array<string>(24).fill('1'));
    const sizes: number[] = [];
    const following = stage.follow({
      batch: 10,
      onEntries: (shard, entries) => {
        sizes.push(entries.length);
        stage.take(shard, entries);
      },
    });
    await settle();
    expect(sizes).toEqual([10, 10, 5]);
    await writer.append(['1', '1']);
    await stage.clock.pass(20);
    expect(stage.taken).toEqual(numbers(0, 1, 27));
    expect(following.position(0)).toBe(27);
  });

  it('begins after the given positions, and follows no other shard', async () => {
    const stage = new Stage();
    for (const shard of [0, 1, 2]) await (await stage.open(shard)).append(['1', '1', '1']);
    stage.follow({
      positions: new Map([
        [0, 2],
        [2, 4],
      ]),
    });
    await stage.clock.pass(20);
    expect(stage.taken).toEqual(numbers(0, 3, 4));
  });

  it('polls all shards with one request, less often while there is no news', async () => {
    const stage = new Stage();
    const writer = await stage.open(0);
    stage.follow();
    await stage.clock.pass(1_000);
    expect(stage.polls).toBeLessThan(18);
    await writer.append(['1']);
    await stage.clock.pass(80);
    expect(stage.taken).toEqual(numbers(0, 1, 2));
    const polls = stage.polls;
    await stage.clock.pass(30);
    expect(stage.polls - polls).toBeGreaterThan(0);
  });

  it('does not wait for the poll after a hint of a new head', async () => {
    const stage = new Stage();
    const writer = await stage.open(0);
    const following = stage.follow();
    await stage.clock.pass(500);
    await writer.append(['1']);
    following.hint(0, 2);
    following.hint(9, 2);
    await settle();
    expect(stage.taken).toEqual(numbers(0, 1, 2));
  });

  it('misses no hint, not even one that comes just before it goes idle', async () => {
    for (let hops = 0; hops < 12; hops += 1) {
      const stage = new Stage();
      const writer = await stage.open(0);
      const records = stage.store.shard(0).records;
      await writer.append(['1']);
      const later = records.pop()!;
      const comeLater = async (): Promise<void> => {
        for (let hop = 0; hop < hops; hop += 1) await Promise.resolve();
        records.push(later);
        following.hint(0, 2);
      };
      const following = stage.follow({
        onEntries: (shard, entries) => {
          if (stage.taken.length === 0) void comeLater();
          stage.take(shard, entries);
        },
      });
      await settle();
      expect(stage.taken).toEqual(numbers(0, 1, 2));
    }
  });

  it('survives a hint that is ahead of the journal', async () => {
    const stage = new Stage();
    const writer = await stage.open(0);
    const following = stage.follow();
    following.hint(0, 50);
    await settle();
    await writer.append(['1']);
    await stage.clock.pass(80);
    expect(stage.taken).toEqual(numbers(0, 1, 2));
    expect(stage.failures).toEqual([]);
  });
});

describe('a consumer', () => {
  it('that is slow delays only its own shard', async () => {
    const stage = new Stage();
    const writers = [await stage.open(0), await stage.open(1)];
    const gate = Promise.withResolvers<'open'>();
    let atOnce = 0;
    let most = 0;
    const following = stage.follow({
      positions: new Map([
        [0, 0],
        [1, 0],
      ]),
      batch: 1,
      onEntries: async (shard, entries) => {
        stage.take(shard, entries);
        if (shard === 1) return;
        atOnce += 1;
        most = Math.max(most, atOnce);
        await gate.promise;
        atOnce -= 1;
      },
    });
    for (const writer of writers) await writer.append(['1', '1', '1']);
    await stage.clock.pass(100);
    expect(stage.taken).toEqual(expect.arrayContaining(['0:1', ...numbers(1, 1, 4)]));
    expect(stage.taken).toHaveLength(5);
    expect(following.position(0)).toBe(0);
    gate.resolve('open');
    await stage.clock.pass(20);
    expect(most).toBe(1);
    expect(stage.taken.filter((each) => each.startsWith('0'))).toEqual(numbers(0, 1, 4));
  });

  it('that fails gets the same entries again', async () => {
    const stage = new Stage();
    await (await stage.open(0)).append(['1', '1']);
    let failing = 3;
    const following = stage.follow({
      onEntries: (shard, entries) => {
        if (failing > 0) {
          failing -= 1;
          throw new Error('not now');
        }
        stage.take(shard, entries);
      },
    });
    await stage.clock.pass(300);
    expect(stage.failures).toHaveLength(3);
    expect(stage.taken).toEqual(numbers(0, 1, 3));
    expect(following.position(0)).toBe(3);
  });

  it('gets nothing more once stop() has resolved, which waits for the current batch', async () => {
    const stage = new Stage();
    const writer = await stage.open(0);
    await writer.append(Array<string>(9).fill('1'));
    const gate = Promise.withResolvers<'open'>();
    const following = stage.follow({
      batch: 2,
      onEntries: async (shard, entries) => {
        await gate.promise;
        stage.take(shard, entries);
      },
    });
    await settle();
    let stopped = false;
    const stopping = following.stop().then(() => {
      stopped = true;
    });
    await settle();
    expect(stopped).toBe(false);
    gate.resolve('open');
    await stopping;
    following.hint(0, 10);
    await stage.clock.pass(200);
    expect(stage.taken).toEqual(numbers(0, 1, 2));
    expect(following.position(0)).toBe(2);
  });
});

describe('stop()', () => {
  it('during the read of a page withholds that page', async () => {
    const stage = new Stage();
    await (await stage.open(0)).append(['1']);
    const gate = Promise.withResolvers<'open'>();
    const following = stage.follow({
      reader: {
        ...stage.reader,
        read: async (...ask) => {
          await gate.promise;
          return stage.store.read(...ask);
        },
      },
    });
    await settle();
    const stopping = following.stop();
    gate.resolve('open');
    await stopping;
    expect(stage.taken).toEqual([]);
    expect(following.position(0)).toBe(0);
  });
});

describe('a fault', () => {
  it('of the store passes, and no entry is skipped or repeated', async () => {
    const stage = new Stage();
    const writer = await stage.open(0);
    await writer.append(['1', '1']);
    let failing = true;
    const reader: JournalReader = {
      ...stage.reader,
      read: (...ask) => (failing ? Promise.reject(new Error('away')) : stage.store.read(...ask)),
      heads: () => (failing ? Promise.reject(new Error('away')) : stage.store.heads()),
    };
    const following = stage.follow({ reader });
    following.hint(0, 3);
    await stage.clock.pass(200);
    expect(stage.failures.length).toBeGreaterThan(2);
    failing = false;
    await stage.clock.pass(200);
    expect(stage.taken).toEqual(numbers(0, 1, 3));
  });

  it('in the chain stops only that shard until it is repaired', async () => {
    const stage = new Stage();
    const writers = [await stage.open(0), await stage.open(1)];
    for (const writer of writers) await writer.append(['1', '1', '1']);
    const records = stage.store.shard(0).records;
    const [, , sound] = records;
    records[2] = { ...sound!, payload: '2' };
    stage.follow({
      positions: new Map([
        [0, 0],
        [1, 0],
      ]),
      batch: 2,
    });
    await stage.clock.pass(300);
    expect(stage.failures).toHaveLength(1);
    expect(stage.failures[0]).toMatchObject({ name: 'JournalCorrupt', shard: 0, sequence: 3 });
    expect(stage.taken).toEqual(expect.arrayContaining([...numbers(0, 1, 2), ...numbers(1, 1, 4)]));
    expect(stage.taken).toHaveLength(6);
    await stage.clock.pass(1_000);
    expect(stage.failures.length).toBeGreaterThan(1);
    expect(stage.taken).toHaveLength(6);
    records[2] = sound!;
    await stage.clock.pass(2_000);
    expect(stage.taken).toEqual(expect.arrayContaining(numbers(0, 1, 4)));
    expect(stage.taken).toHaveLength(8);
  });

  it('of a journal that was rewritten after it was read is noticed', async () => {
    const stage = new Stage();
    const writer = await stage.open(0);
    await writer.append(['1']);
    stage.follow();
    await stage.clock.pass(100);
    stage.store.shard(0).records = [];
    stage.store.shard(0).epoch = 0;
    const forger = await stage.open(0);
    await forger.append(['2', '3']);
    await stage.clock.pass(200);
    expect(stage.failures).toEqual([expect.any(JournalCorrupt)]);
    expect(stage.taken).toEqual(numbers(0, 1, 2));
  });
});
