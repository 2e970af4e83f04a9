import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { plusMillis, type Instant } from '#libs/base/instant.js';
import { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import { eventually } from '#libs/testing/eventually.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { MemorySnapshotStore } from '#libs/testing/journals/memory-snapshots.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { CommandLoop, type EntityMemory, type Reservations } from './command-loop.js';
import { DeadlineScheduler } from './deadline-scheduler.js';
import { IdempotencyIndex, isSameCommand, type IdempotencyKey } from './idempotency-index.js';
import { InFlightCommands, type RepeatRules } from './in-flight-commands.js';
import { JournalProgress } from './journal-progress.js';
import { recoverMemory } from './recovery.js';
import { SnapshotKeeper } from './snapshot-keeper.js';
import { AGAIN, type Entity, type ShardTypes, type Task } from './task.js';

// The domain: counters that are raised for a while. All of them together may not exceed a budget.

interface Raise {
  readonly command: IdempotencyKey;
  readonly counter: string;
  readonly amount: number;
  readonly millis: number;
}
type CounterEvent = { readonly at: Instant; readonly counter: string } & (
  | {
      readonly type: 'RAISED';
      readonly amount: number;
      readonly until: Instant;
      readonly command: IdempotencyKey;
    }
  | { readonly type: 'LAPSED' }
);
interface CounterState {
  readonly value: number;
  readonly until?: Instant;
}
interface Counter extends Entity<CounterState> {
  readonly name: string;
  readonly commands: IdempotencyIndex;
}
interface CounterTypes extends ShardTypes {
  entity: Counter;
  event: CounterEvent;
  /** An amount. */
  request: number;
  grant: boolean;
  release: number;
  /** An HTTP status. */
  reply: number;
}

const ZERO: CounterState = { value: 0 };

function evolve(event: CounterEvent): CounterState {
  return event.type === 'RAISED' ? { value: event.amount, until: event.until } : ZERO;
}

class Counters implements EntityMemory<CounterTypes> {
  readonly all = new Map<string, Counter>();

  find(name: string): Counter {
    const fresh = { name, head: ZERO, durable: undefined, commands: new IdempotencyIndex() };
    const counter = this.all.get(name) ?? fresh;
    this.all.set(name, counter);
    return counter;
  }

  apply(position: number, event: CounterEvent) {
    const entity = this.find(event.counter);
    const releases = event.type === 'LAPSED' ? [entity.head.value] : [];
    if (event.type === 'RAISED') entity.commands.note(event.command, position);
    entity.head = evolve(event);
    return { entity, releases };
  }
}

function raiseTask(counter: Counter, raise: Raise, settle: (status: number) => void): Task<CounterTypes> {
  const { name: orderingKey } = counter;
  return {
    orderingKey,
    prelude: () => [],
    reservation: () => (counter.head.value > 0 ? undefined : raise.amount),
    decide: (at, grant) => {
      if (counter.head.value > 0) return { events: [], reply: () => 409 };
      if (grant === undefined) return AGAIN;
      if (!grant) return { events: [], reply: () => 422 };
      const until = plusMillis(at, raise.millis);
      return { events: [{ type: 'RAISED', at, until, ...raise }], reply: () => 201 };
    },
    settle,
  };
}

function lapseTask(counter: Counter): Task<CounterTypes> {
  return {
    orderingKey: counter.name,
    prelude: () => [],
    reservation: () => undefined,
    decide: (at) => {
      const isDue = counter.head.until !== undefined && counter.head.until <= at;
      return { events: isDue ? [{ type: 'LAPSED', at, counter: counter.name }] : [], reply: () => 200 };
    },
    settle: () => undefined,
  };
}

class Budget implements Reservations<CounterTypes> {
  readonly unavailable = 503;

  constructor(public left: number) {}

  reserve(amounts: readonly number[]): Promise<boolean[]> {
    return Promise.resolve(
      amounts.map((amount) => {
        const isGranted = amount <= this.left;
        if (isGranted) this.left -= amount;
        return isGranted;
      }),
    );
  }

  release(amounts: readonly number[]): Promise<void> {
    for (const amount of amounts) this.left += amount;
    return Promise.resolve();
  }

  isFenced(): boolean {
    return false;
  }
}

// The owner of one shard of counters, composed of the parts in this library.

const FAMILY = 'execution';
const SHARD = 0;
const BUDGET = 10;
const REPEATS: RepeatRules<number> = {
  inProgress: 409,
  isFinal: (status) => status < 300,
  asRepeat: () => 200,
};
type CounterLine = readonly [name: string, state: CounterState, commands: readonly [number, number][]];

class CounterOwner {
  private constructor(
    readonly counters: Counters,
    readonly budget: Budget,
    readonly extent: { readonly events: number; readonly snapshotAt: number },
    private readonly inFlight: InFlightCommands<number>,
    private readonly loop: CommandLoop<CounterTypes>,
    private readonly deadlines: DeadlineScheduler<string>,
  ) {}

  static async open(store: MemoryJournalStore, snapshots: SealedSnapshots): Promise<CounterOwner> {
    const writer = await new MemoryJournal(store).open(SHARD);
    const counters = new Counters();
    const progress = new JournalProgress(writer.head.sequence);
    const now = (): Instant => progress.nowAt(clock.epochNanos());
    const keeper = new SnapshotKeeper<readonly CounterLine[]>({
      shard: SHARD,
      snapshots,
      format: 1,
      write: (lines) => Promise.resolve(Buffer.from(JSON.stringify(lines))),
      every: 3,
      onFault: fail,
    });

    const extent = await recoverMemory({
      family: FAMILY,
      shard: SHARD,
      reader: store,
      snapshots,
      format: 1,
      clock,
      head: writer.head,
      restore: (content) => {
        for (const [name, head, commands] of JSON.parse(content.toString()) as CounterLine[]) {
          counters.all.set(name, { name, head, durable: head, commands: new IdempotencyIndex(commands) });
        }
      },
      replay: (position, payload) => counters.apply(position, JSON.parse(payload) as CounterEvent),
    });
    keeper.restoredFrom(extent.snapshotAt);
    const raised = [...counters.all.values()].reduce((sum, { head }) => sum + head.value, 0);
    const budget = new Budget(BUDGET - raised);

    const watch = ({ name, durable }: Counter): void => {
      if (durable?.until !== undefined) deadlines.schedule(durable.until, name);
    };
    const loop = new CommandLoop<CounterTypes>({
      writer,
      memory: counters,
      reservations: budget,
      encode: (event) => JSON.stringify(event),
      now,
      clock,
      onAppended: () => undefined,
      onCommitted: ({ entities, events, head }) => {
        progress.committed(head, events);
        for (const counter of entities) watch(counter);
        if (!keeper.isDue(head) || writer.head.sequence !== head) return;
        const lines = [...counters.all.values()].map(({ name, durable = ZERO, commands }): CounterLine => {
          return [name, durable, commands.upTo(head)];
        });
        keeper.take(lines, writer.head);
      },
      onJournalFailure: fail,
      onUnreserved: fail,
    });
    const deadlines = new DeadlineScheduler<string>({
      clock,
      now,
      clockIsSound: () => true,
      onDue: (name) => loop.submit(lapseTask(counters.find(name))),
    });

    for (const counter of counters.all.values()) {
      counter.durable = counter.head;
      watch(counter);
    }
    loop.start();
    return new CounterOwner(counters, budget, extent, new InFlightCommands(clock, REPEATS), loop, deadlines);
  }

  raise(raise: Raise): Promise<number> {
    const { account_id: account, key } = raise.command;
    const content = `${raise.counter}/${raise.amount}/${raise.millis}`;
    return this.inFlight.once(`${account}/${key}`, content, async () => {
      if (await this.isAnswered(raise)) return 200;
      return new Promise((settle) =>
        this.loop.submit(raiseTask(this.counters.find(raise.counter), raise, settle)),
      );
    });
  }

  async stop(): Promise<void> {
    this.deadlines.stop();
    await this.loop.stop();
  }

  private async isAnswered({ counter, command }: Raise): Promise<boolean> {
    const records = await store.entries(SHARD, this.counters.find(counter).commands.find(command));
    return records.some(({ payload }) => {
      const event = JSON.parse(payload) as CounterEvent;
      return event.type === 'RAISED' && isSameCommand(event.command, command);
    });
  }
}

let clock: MovableClock;
let store: MemoryJournalStore;
let snapshotStore: MemorySnapshotStore;
let owner: CounterOwner;

function fail(error: unknown): never {
  throw error;
}

function open(): Promise<CounterOwner> {
  const keys = [Buffer.alloc(32, 1)] as const;
  return CounterOwner.open(
    store,
    new SealedSnapshots({ family: FAMILY, store: snapshotStore, keys, onRefused: fail }),
  );
}

function raise(counter: string, amount: number, key: string, millis = 60_000): Promise<number> {
  return owner.raise({ counter, amount, millis, command: { operation: 'RAISE', account_id: 'ann', key } });
}

function valueOf(counter: string): number {
  return owner.counters.find(counter).durable?.value ?? 0;
}

beforeEach(async () => {
  clock = new MovableClock();
  store = new MemoryJournalStore(FAMILY);
  snapshotStore = new MemorySnapshotStore();
  owner = await open();
});
afterEach(async () => {
  await owner.stop();
  clock.forgetTimers();
});

it('raises counters within the budget', async () => {
  expect(await Promise.all([raise('a', 6, '1'), raise('b', 6, '2'), raise('c', 4, '3')])).toEqual([
    201, 422, 201,
  ]);
  expect(await raise('a', 1, '4')).toBe(409);
  expect([valueOf('a'), valueOf('b'), valueOf('c'), owner.budget.left]).toEqual([6, 0, 4, 0]);
});

it('answers a repeat, during the first call and after it, and does the work once', async () => {
  expect(await Promise.all([raise('a', 6, '1'), raise('a', 6, '1')])).toEqual([201, 200]);
  expect(await raise('a', 6, '1')).toBe(200);
  expect(owner.budget.left).toBe(4);
});

it('lets a raise lapse at its time, and frees its part of the budget', async () => {
  await raise('a', 6, '1', 5_000);
  clock.leap(4_000);
  await raise('b', 4, '2');
  expect(valueOf('a')).toBe(6);
  clock.leap(2_000);
  await eventually(() => expect([valueOf('a'), owner.budget.left]).toEqual([0, 6]));
  expect(await raise('a', 6, '3')).toBe(201);
});

it('continues after a restart, from a snapshot and the journal after it', async () => {
  await raise('a', 5, '1', 5_000);
  await raise('b', 3, '2');
  // The journal begins with the record of its epoch.
  await eventually(() => expect(snapshotStore.newest(SHARD)?.sequence).toBe(3));
  await raise('c', 1, '3');
  await raise('d', 1, '4');
  await owner.stop();
  owner = await open();
  expect(owner.extent).toEqual({ events: 2, snapshotAt: 3 });
  expect([valueOf('a'), valueOf('d'), owner.budget.left]).toEqual([5, 1, 0]);
  expect([await raise('a', 5, '1', 5_000), await raise('d', 1, '4')]).toEqual([200, 200]);
  clock.leap(6_000);
  await eventually(() => expect([valueOf('a'), owner.budget.left]).toEqual([0, 5]));
});
