import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  ReservationFault,
  type ReserveOutcome,
  type ReserveRequest,
} from '#libs/auction/admission/reservation-desk.js';
import { decodeEvent } from '#libs/auction/rules/event-versions.js';
import { MAX_BATCH_RECORDS } from '#libs/journal/limits.js';
import { reply, type LinkReply } from '#libs/link/link-protocol.js';
import { eventually } from '#libs/testing/eventually.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { SteeredWriter } from '#libs/testing/journals/steered-writer.js';
import { AuctionBook } from '#libs/auction/shard/memory/auction-book.js';
import { CommandLoop, type LoopPorts } from './command-loop.js';
import type { Release } from '#libs/auction/shard/releases.js';
import { AGAIN, type Decision, type Draft, type Task } from './task.js';

const SHARD = 0;
const NOW = '2026-11-20T12:00:00.000000000Z';
const NEED = { side: 'BUY', routes: [], price_atoms: 1, quantity_atoms: 1, parts: 1 } as const;

/** An event that touches no auction: all that matters here is that it is written. */
function noted(account: string): Draft {
  return {
    at: NOW,
    body: { type: 'ALL_WITHDRAWN', data: { account_id: account, withdrawn: [], not_withdrawable: [] } },
  };
}

class Errand implements Task {
  readonly lane: string;
  answer: LinkReply | undefined;
  decided = 0;

  constructor(
    readonly name: string,
    private readonly plan: {
      lane?: string;
      events?: number;
      reserves?: boolean;
      decides?: (errand: Errand, granted: ReserveOutcome | undefined) => Decision | typeof AGAIN;
    } = {},
  ) {
    this.lane = plan.lane ?? name;
  }

  prelude(): readonly Draft[] {
    return [];
  }

  reservation(): ReserveRequest | undefined {
    return this.plan.reserves === true ? { account: this.name, need: NEED, current: [] } : undefined;
  }

  decide(_now: string, granted: ReserveOutcome | undefined): Decision | typeof AGAIN {
    this.decided += 1;
    return this.plan.decides?.(this, granted) ?? this.says(200);
  }

  says(status: number, more: Partial<Decision> = {}): Decision {
    const drafts =
      status === 409 ? [] : Array.from({ length: this.plan.events ?? 1 }, () => noted(this.name));
    return { drafts, answer: () => reply(status, { name: this.name }), ...more };
  }

  settle(answer: LinkReply): void {
    this.answer = answer;
  }
}

/** Grants everything until it is told not to. */
class OpenDesk {
  readonly asked: (readonly ReserveRequest[])[] = [];
  fault: Error | undefined;
  private gate: Promise<void> = Promise.resolve();

  hold(): void {
    this.gate = new Promise(() => undefined);
  }

  async reserve(requests: readonly ReserveRequest[]): Promise<readonly ReserveOutcome[]> {
    this.asked.push(requests);
    await this.gate;
    if (this.fault !== undefined) throw this.fault;
    return requests.map(() => ({ ok: true, hold: [] }));
  }

  release = (): Promise<void> => Promise.resolve();
  reconcile = (): Promise<void> => Promise.resolve();
  close = (): Promise<void> => Promise.resolve();
  totals = () => ({
    keys: 0,
    unwritten: 0,
    unwrittenSeconds: 0,
    reserved: 0,
    refused: 0,
    commits: 0,
    aborts: 0,
    faults: 0,
  });
}

let store: MemoryJournalStore;
let writer: SteeredWriter;
let desk: OpenDesk;
let failures: unknown[];
let unreserved: unknown[];
let released: (readonly Release[])[];
let committedHeads: number[];
let loop: CommandLoop;

async function open(different: Partial<LoopPorts> = {}): Promise<void> {
  store = new MemoryJournalStore();
  writer = new SteeredWriter(await new MemoryJournal(store).open(SHARD));
  desk = new OpenDesk();
  failures = [];
  unreserved = [];
  released = [];
  committedHeads = [];
  loop = new CommandLoop({
    writer,
    desk,
    book: new AuctionBook(),
    now: () => NOW,
    clock: new MovableClock(),
    meter: { command: () => undefined, appended: () => undefined },
    onCommitted: ({ head }) => committedHeads.push(head),
    release: (releases) => {
      released.push(releases);
      return Promise.resolve();
    },
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

/** Long enough for everything that can happen without being let go. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
}

function answered(errand: Errand): Promise<void> {
  return eventually(() => expect(errand.answer).toBeDefined());
}

async function journaled(): Promise<string[]> {
  const records = await store.read(SHARD, 1, 100_000);
  return records
    .filter(({ kind }) => kind === 'event')
    .map(({ payload }) => {
      const event = decodeEvent(payload);
      return event.type === 'ALL_WITHDRAWN' ? event.data.account_id : event.type;
    });
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

  it('reserves for a whole batch in one call, and only for those that need it', async () => {
    const needing = errands(5, { reserves: true });
    submit(new Errand('idle'), ...needing);
    await answered(needing[4]!);
    expect(desk.asked.map((requests) => requests.map(({ account }) => account))).toEqual([
      needing.map(({ name }) => name),
    ]);
  });

  it('decides the second of a lane only when the first is through its batch', async () => {
    writer.hold();
    const [first, second, other] = [
      new Errand('first', { lane: 'one' }),
      new Errand('second', { lane: 'one' }),
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

  it('keeps no lane waiting behind another that is busy, and no order within a lane is changed', async () => {
    const all = Array.from(
      { length: 60 },
      (_, index) => new Errand(`${index % 3}/${index}`, { lane: String(index % 3) }),
    );
    submit(...all);
    await answered(all[59]!);
    const order = await journaled();
    for (const lane of ['0', '1', '2']) {
      const ofLane = order.filter((name) => name.startsWith(`${lane}/`));
      expect(ofLane).toEqual(all.map(({ name }) => name).filter((name) => name.startsWith(`${lane}/`)));
    }
  });

  it('never hands the journal more than one append may hold', async () => {
    const greedy = errands(20, { events: 1_900 });
    submit(...greedy);
    await answered(greedy[19]!);
    expect(failures).toEqual([]);
    expect(20 * 1_900).toBeGreaterThan(MAX_BATCH_RECORDS);
    expect(await journaled()).toHaveLength(20 * 1_900);
  });

  it('takes no more than it can carry', async () => {
    desk.hold();
    submit(new Errand('first', { reserves: true }));
    await quiet();
    let taken = 0;
    while (taken < 30_000 && loop.submit(new Errand(`waiting-${taken}`, { lane: 'one' }))) taken += 1;
    expect(taken).toBe(20_000);
    expect(loop.depth).toBe(20_000);
  });
});

describe('while an append is on its way', () => {
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

  it('tells for how long the append that is under way has been, while it is', async () => {
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

  it('holds back an answer that writes nothing but rests on what is not yet written', async () => {
    writer.hold();
    const first = new Errand('first');
    submit(first);
    await quiet();
    const refused = new Errand('refused', { decides: (errand) => errand.says(409) });
    submit(refused);
    await quiet();
    expect(refused.decided).toBe(1);
    expect(refused.answer).toBeUndefined();
    writer.letGo();
    await answered(refused);
    expect(first.answer?.status).toBe(200);
    expect(writer.asked).toBe(1);
  });

  it('finishes everything that was accepted when it is stopped, and takes nothing more', async () => {
    writer.hold();
    const all = errands(3, { lane: 'one' });
    submit(...all);
    await quiet();
    const stopped = loop.stop();
    expect(loop.submit(new Errand('late'))).toBe(false);
    writer.letGo();
    await stopped;
    expect(all.map(({ answer }) => answer?.status)).toEqual([200, 200, 200]);
  });

  it('has answered everybody when it has stopped, those too whose money is still being set free', async () => {
    const gate = Promise.withResolvers<undefined>();
    await open({ release: () => gate.promise });
    const freeing = new Errand('freeing', {
      decides: (errand) => errand.says(200, { unused: [{ account: 'a', hold: [] }] }),
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
    expect(freeing.answer?.status).toBe(200);
  });
});

describe('when the journal fails', () => {
  it.each(['written', 'not written'] as const)(
    'tells nobody anything, and says so once (%s)',
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

  it('sets nothing free that an event which may not be written would have set free', async () => {
    writer.loseNext('not written');
    submit(
      new Errand('freeing', {
        decides: (errand) => errand.says(200, { unused: [{ account: 'a', hold: [] }] }),
      }),
    );
    await eventually(() => expect(failures).toHaveLength(1));
    await quiet();
    expect(released).toEqual([]);
  });

  it('takes a place in the journal that it did not expect for a second writer', async () => {
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
  it('tells those who needed it to come back, changes nothing for them and goes on with the rest', async () => {
    desk.fault = new ReservationFault('CONTENDED', 'others kept winning');
    const [needing, idle] = [new Errand('needing', { reserves: true }), new Errand('idle')];
    submit(needing, idle);
    await answered(idle);
    expect(needing).toMatchObject({
      decided: 0,
      answer: { status: 503, body: '{"error":"auction_owner_unavailable"}' },
    });
    expect(await journaled()).toEqual(['idle']);
    expect(unreserved).toEqual([desk.fault]);
    desk.fault = undefined;
    const next = new Errand('next', { reserves: true });
    submit(next);
    await answered(next);
    expect(next.answer?.status).toBe(200);
  });

  it('stops, like for a journal that is lost, where the desk says that a younger owner has the shard', async () => {
    desk.fault = new ReservationFault('FENCED', 'a younger owner');
    const [needing, idle] = [new Errand('needing', { reserves: true }), new Errand('idle')];
    submit(needing, idle);
    await eventually(() => expect(failures).toEqual([desk.fault]));
    await quiet();
    expect([needing.answer, idle.answer]).toEqual([undefined, undefined]);
    expect(loop.submit(new Errand('late'))).toBe(false);
    expect(await journaled()).toEqual([]);
  });
});

describe('a task whose reservation no longer fits', () => {
  it('is decided anew in the next batch, before whatever came later', async () => {
    const undecided = new Errand('undecided', {
      reserves: true,
      decides: (errand) => (errand.decided === 1 ? AGAIN : errand.says(200)),
    });
    const later = new Errand('later', { lane: 'undecided' });
    submit(undecided, later);
    await answered(later);
    expect(undecided.decided).toBe(2);
    expect(desk.asked).toHaveLength(2);
    expect(await journaled()).toEqual(['undecided', 'later']);
  });

  it('may come in parts, of which only the last is answered', async () => {
    const long = new Errand('long', {
      decides: (errand) => (errand.decided < 3 ? errand.says(500, { unfinished: true }) : errand.says(200)),
    });
    submit(long);
    await answered(long);
    expect(long.answer?.status).toBe(200);
    expect(await journaled()).toEqual(['long', 'long', 'long']);
  });
});
