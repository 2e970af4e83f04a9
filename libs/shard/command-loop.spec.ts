import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { MAX_BATCH_RECORDS } from '#libs/journal/limits.js';
import { eventually } from '#libs/testing/eventually.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { SteeredWriter } from '#libs/testing/journals/steered-writer.js';
import { CommandLoop, type LoopPorts, type Reservations } from './command-loop.js';
import { AGAIN, type Entity, type ShardTypes, type Task, type TaskResult } from './task.js';

const SHARD = 0;
const NOW = '2026-11-20T12:00:00.000000000Z';
const FENCED = new Error('a younger owner');
const UNAVAILABLE = 503;

/** Events are names that change no entity, because these tests only check that they are written. */
interface ErrandTypes extends ShardTypes {
  entity: Entity<never>;
  event: string;
  request: string;
  grant: 'GRANTED';
  release: string;
  /** An HTTP status. */
  reply: number;
}

type Result = TaskResult<ErrandTypes> | typeof AGAIN;

class Errand implements Task<ErrandTypes> {
  readonly orderingKey: string;
  answer: number | undefined;
  decided = 0;

  constructor(
    readonly name: string,
    private readonly plan: {
      key?: string;
      events?: number;
      reserves?: boolean;
      decides?: (errand: Errand) => Result;
    } = {},
  ) {
    this.orderingKey = plan.key ?? name;
  }

  prelude(): readonly string[] {
    return [];
  }

  reservation(): string | undefined {
    return this.plan.reserves === true ? this.name : undefined;
  }

  decide(): Result {
    this.decided += 1;
    return this.plan.decides?.(this) ?? this.replies(200);
  }

  replies(status: number, more: Partial<TaskResult<ErrandTypes>> = {}): TaskResult<ErrandTypes> {
    const events = status === 409 ? [] : Array.from({ length: this.plan.events ?? 1 }, () => this.name);
    return { events, reply: () => status, ...more };
  }

  settle(answer: number): void {
    this.answer = answer;
  }
}

/** Grants everything unless a test sets a fault. */
class OpenReservations implements Reservations<ErrandTypes> {
  readonly unavailable = UNAVAILABLE;
  readonly asked: (readonly string[])[] = [];
  readonly released: (readonly string[])[] = [];
  fault: Error | undefined;
  /** Releases resolve after this promise. */
  written: Promise<void> = Promise.resolve();
  private gate: Promise<void> = Promise.resolve();

  hold(): void {
    this.gate = new Promise(() => undefined);
  }

  async reserve(requests: readonly string[]): Promise<readonly 'GRANTED'[]> {
    this.asked.push(requests);
    await this.gate;
    if (this.fault !== undefined) throw this.fault;
    return requests.map(() => 'GRANTED');
  }

  release(releases: readonly string[]): Promise<void> {
    this.released.push(releases);
    return this.written;
  }

  isFenced(error: unknown): boolean {
    return error === FENCED;
  }
}

let store: MemoryJournalStore;
let writer: SteeredWriter;
let reservations: OpenReservations;
let failures: unknown[];
let unreserved: unknown[];
let committedHeads: number[];
let loop: CommandLoop<ErrandTypes>;

async function open(different: Partial<LoopPorts<ErrandTypes>> = {}): Promise<void> {
  store = new MemoryJournalStore();
  writer = new SteeredWriter(await new MemoryJournal(store).open(SHARD));
  reservations = new OpenReservations();
  failures = [];
  unreserved = [];
  committedHeads = [];
  loop = new CommandLoop({
    writer,
    memory: { apply: () => undefined },
    reservations,
    encode: (event) => JSON.stringify(event),
    now: () => NOW,
    clock: new MovableClock(),
    onAppended: () => undefined,
    onCommitted: ({ head }) => committedHeads.push(head),
    onJournalFailure: (error) => failures.push(error),
    onUnreserved: (error) => unreserved.push(error),
    ...different,
  });
  loop.start();
}

beforeEach(() => open());

function submit(...errands: Errand[]): void {
  for (const errand of errands) expect(loop.submit(errand)).toBe(true);
}

/** Waits long enough for everything that can happen without a release. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
}

function answered(errand: Errand): Promise<void> {
  return eventually(() => expect(errand.answer).toBeDefined());
}

async function journaled(): Promise<string[]> {
  const records = await store.read(SHARD, 1, 100_000);
  return records.filter(({ kind }) => kind === 'event').map(({ payload }) => String(JSON.parse(payload)));
}

function errands(count: number, plan: ConstructorParameters<typeof Errand>[1] = {}): Errand[] {
  return Array.from({ length: count }, (_, index) => new Errand(`errand-${index}`, plan));
}

describe('batches', () => {
  it('takes what arrives together in one append, in the order of arrival', async () => {
    const all = errands(10);
    submit(...all);
    await answered(all[9]!);
    expect(writer.asked).toBe(1);
    expect(await journaled()).toEqual(all.map(({ name }) => name));
  });

  it('reserves for a whole batch in one call, and only for those that need one', async () => {
    const needing = errands(5, { reserves: true });
    submit(new Errand('idle'), ...needing);
    await answered(needing[4]!);
    expect(reservations.asked.map((requests) => [...requests])).toEqual([needing.map(({ name }) => name)]);
  });

  it('decides the second task with a key only after the batch of the first', async () => {
    writer.hold();
    const [first, second, other] = [
      new Errand('first', { key: 'one' }),
      new Errand('second', { key: 'one' }),
      new Errand('other'),
    ];
    submit(first, second, other);
    await quiet();
    expect([first.decided, other.decided]).toEqual([1, 1]);
    writer.letGo();
    await answered(second);
    expect(await journaled()).toEqual(['first', 'other', 'second']);
    expect(writer.asked).toBe(2);
  });

  it('lets no command wait for a busy key that is not its own, and keeps the order within each key', async () => {
    const all = Array.from(
      { length: 60 },
      (_, index) => new Errand(`${index % 3}/${index}`, { key: String(index % 3) }),
    );
    submit(...all);
    await answered(all[59]!);
    const order = await journaled();
    for (const key of ['0', '1', '2']) {
      const ofKey = order.filter((name) => name.startsWith(`${key}/`));
      expect(ofKey).toEqual(all.map(({ name }) => name).filter((name) => name.startsWith(`${key}/`)));
    }
  });

  it('never gives the journal more than the limit of one append', async () => {
    const greedy = errands(20, { events: 1_900 });
    submit(...greedy);
    await answered(greedy[19]!);
    expect(failures).toEqual([]);
    expect(20 * 1_900).toBeGreaterThan(MAX_BATCH_RECORDS);
    expect(await journaled()).toHaveLength(20 * 1_900);
  });

  it('refuses tasks beyond the length of its queue', async () => {
    reservations.hold();
    submit(new Errand('first', { reserves: true }));
    await quiet();
    let taken = 0;
    while (taken < 30_000 && loop.submit(new Errand(`waiting-${taken}`, { key: 'one' }))) taken += 1;
    expect(taken).toBe(20_000);
    expect(loop.depth).toBe(20_000);
  });
});

describe('while an append is in flight', () => {
  it('reserves and decides the next batch, and sends it only then', async () => {
    writer.hold();
    const first = new Errand('first');
    submit(first);
    await quiet();
    const second = new Errand('second', { reserves: true });
    submit(second);
    await quiet();
    expect(second.decided).toBe(1);
    expect(writer.asked).toBe(1);
    expect([first.answer, second.answer]).toEqual([undefined, undefined]);
    writer.letGo();
    await answered(second);
    expect(writer.asked).toBe(2);
    expect(writer.mostInFlight).toBe(1);
  });

  it('reports how long the current append has been running', async () => {
    const clock = new MovableClock();
    await open({ clock });
    expect(loop.appendingSeconds).toBe(0);
    writer.hold();
    const [first] = errands(1);
    submit(first!);
    await quiet();
    clock.leap(7_000);
    expect(Math.floor(loop.appendingSeconds)).toBe(7);
    writer.letGo();
    await answered(first!);
    expect(loop.appendingSeconds).toBe(0);
  });

  it('holds back a reply that writes nothing but depends on events that are not yet written', async () => {
    writer.hold();
    const first = new Errand('first');
    submit(first);
    await quiet();
    const refused = new Errand('refused', { decides: (errand) => errand.replies(409) });
    submit(refused);
    await quiet();
    expect(refused.decided).toBe(1);
    expect(refused.answer).toBeUndefined();
    writer.letGo();
    await answered(refused);
    expect(first.answer).toBe(200);
    expect(writer.asked).toBe(1);
  });

  it('finishes all accepted tasks when it is stopped, and accepts no more', async () => {
    writer.hold();
    const all = errands(3, { key: 'one' });
    submit(...all);
    await quiet();
    const stopped = loop.stop();
    expect(loop.submit(new Errand('late'))).toBe(false);
    writer.letGo();
    await stopped;
    expect(all.map(({ answer }) => answer)).toEqual([200, 200, 200]);
  });

  it('has answered every caller once it has stopped, even callers whose releases were still being written', async () => {
    const gate = Promise.withResolvers<undefined>();
    reservations.written = gate.promise;
    const freeing = new Errand('freeing', {
      decides: (errand) => errand.replies(200, { unused: ['a'] }),
    });
    submit(freeing);
    await eventually(() => expect(committedHeads).toEqual([2]));
    let hasStopped = false;
    const stopped = loop.stop().then(() => {
      hasStopped = true;
    });
    await quiet();
    expect(hasStopped).toBe(false);
    gate.resolve(undefined);
    await stopped;
    expect(freeing.answer).toBe(200);
  });
});

describe('when the journal fails', () => {
  it.each(['written', 'not written'] as const)(
    'answers no caller, and reports the failure once (%s)',
    async (what) => {
      writer.hold();
      writer.loseNext(what);
      const [first, second, third] = [new Errand('first'), new Errand('second'), new Errand('third')];
      submit(first);
      await quiet();
      submit(second);
      await quiet();
      submit(third);
      writer.letGo();
      await eventually(() => expect(failures).toHaveLength(1));
      await quiet();
      expect([first.answer, second.answer, third.answer]).toEqual([undefined, undefined, undefined]);
      expect(loop.submit(new Errand('late'))).toBe(false);
      expect(committedHeads).toEqual([]);
      await loop.stop();
      expect(failures).toHaveLength(1);
      expect(await journaled()).toEqual(what === 'written' ? ['first'] : []);
    },
  );

  it('releases nothing for an event that may not have been written', async () => {
    writer.loseNext('not written');
    submit(
      new Errand('freeing', {
        decides: (errand) => errand.replies(200, { unused: ['a'] }),
      }),
    );
    await eventually(() => expect(failures).toHaveLength(1));
    await quiet();
    expect(reservations.released).toEqual([]);
  });

  it('treats an unexpected position in the journal as a second writer', async () => {
    await open({ writer: shifted() });
    const errand = new Errand('first');
    submit(errand);
    await eventually(() => expect(failures).toHaveLength(1));
    expect(errand.answer).toBeUndefined();
  });

  function shifted() {
    const head = { epoch: 1, sequence: 1, hash: '' };
    return {
      shard: SHARD,
      head,
      append: () => Promise.resolve({ firstSequence: 3, hashes: [] }),
      confirm: () => Promise.resolve(),
      health: () => ({ ok: true }) as const,
      close: () => Promise.resolve(),
    };
  }
});

describe('when nothing can be reserved', () => {
  it('asks the callers that needed a reservation to retry, changes nothing for them, and continues with the others', async () => {
    reservations.fault = new Error('others kept winning');
    const [needing, idle] = [new Errand('needing', { reserves: true }), new Errand('idle')];
    submit(needing, idle);
    await answered(idle);
    expect(needing).toMatchObject({
      decided: 0,
      answer: UNAVAILABLE,
    });
    expect(await journaled()).toEqual(['idle']);
    expect(unreserved).toEqual([reservations.fault]);
    reservations.fault = undefined;
    const next = new Errand('next', { reserves: true });
    submit(next);
    await answered(next);
    expect(next.answer).toBe(200);
  });

  it('stops, as after a failure of the journal, if another owner has the shard', async () => {
    reservations.fault = FENCED;
    const [needing, idle] = [new Errand('needing', { reserves: true }), new Errand('idle')];
    submit(needing, idle);
    await eventually(() => expect(failures).toEqual([reservations.fault]));
    await quiet();
    expect([needing.answer, idle.answer]).toEqual([undefined, undefined]);
    expect(loop.submit(new Errand('late'))).toBe(false);
    expect(await journaled()).toEqual([]);
  });
});

describe('a task whose reservation no longer fits', () => {
  it('is decided again in the next batch, before later tasks', async () => {
    const undecided = new Errand('undecided', {
      reserves: true,
      decides: (errand) => (errand.decided === 1 ? AGAIN : errand.replies(200)),
    });
    const later = new Errand('later', { key: 'undecided' });
    submit(undecided, later);
    await answered(later);
    expect(undecided.decided).toBe(2);
    expect(reservations.asked).toHaveLength(2);
    expect(await journaled()).toEqual(['undecided', 'later']);
  });

  it('may be decided in parts: only the last part is answered', async () => {
    const long = new Errand('long', {
      decides: (errand) =>
        errand.decided < 3 ? errand.replies(500, { unfinished: true }) : errand.replies(200),
    });
    submit(long);
    await answered(long);
    expect(long.answer).toBe(200);
    expect(await journaled()).toEqual(['long', 'long', 'long']);
  });
});
