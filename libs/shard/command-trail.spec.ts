import { afterEach, describe, expect, it } from '@jest/globals';
import { ReservationFault, type ReservationDesk } from '#libs/auction/admission/reservation-desk.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { RecordedTracing } from '#libs/testing/tracing/recorded-tracing.js';
import { reply, type LinkReply } from '#libs/link/link-protocol.js';
import { AuctionBook } from '#libs/auction/shard/memory/auction-book.js';
import { CommandLoop } from './command-loop.js';
import { AGAIN, type Decision, type Draft, type Task } from './task.js';

const NOW = '2026-11-20T12:00:00.000000000Z';
const NEED = { side: 'BUY', routes: [], price_atoms: 1, quantity_atoms: 1, parts: 1 } as const;
const NOTED: Draft = {
  at: NOW,
  body: { type: 'ALL_WITHDRAWN', data: { account_id: 'a', withdrawn: [], not_withdrawable: [] } },
};
const SET_FREE = [{ account: 'a', hold: [] }];

type Decide = (round: number) => Decision | typeof AGAIN;

function says(drafts: readonly Draft[], more: Partial<Decision> = {}): Decision {
  return { drafts, answer: () => reply(200, {}), ...more };
}

/** Grants everything, or nobody knows. */
function deskOf(fault?: Error): ReservationDesk {
  return {
    reserve: (requests) =>
      fault === undefined
        ? Promise.resolve(requests.map(() => ({ ok: true as const, hold: [] })))
        : Promise.reject(fault),
    release: () => Promise.resolve(),
    reconcile: () => Promise.resolve(),
    close: () => Promise.resolve(),
    totals: () => ({
      keys: 0,
      unwritten: 0,
      unwrittenSeconds: 0,
      reserved: 0,
      refused: 0,
      commits: 0,
      aborts: 0,
      faults: 0,
    }),
  };
}

let loop: CommandLoop;
let tracing: RecordedTracing;

async function open(desk: ReservationDesk = deskOf()): Promise<void> {
  tracing = new RecordedTracing();
  loop = new CommandLoop({
    writer: await new MemoryJournal(new MemoryJournalStore()).open(0),
    desk,
    book: new AuctionBook(),
    now: () => NOW,
    clock: new MovableClock(),
    meter: { command: () => undefined, appended: () => undefined },
    onCommitted: () => undefined,
    release: () => Promise.resolve(),
    onUnreserved: () => undefined,
    onJournalFailure: (error) => {
      throw error;
    },
    tracing,
  });
  loop.start();
}

afterEach(() => loop.stop());

/** One command in the course of a span of this name, or of none. */
function carriedOut(name: string | undefined, reserves: boolean, decide: Decide): Promise<LinkReply> {
  let round = 0;
  const submit = (): Promise<LinkReply> =>
    new Promise((resolve) => {
      const task: Task = {
        lane: name ?? 'nobody',
        prelude: () => [],
        reservation: () => (reserves ? { account: 'a', need: NEED, current: [] } : undefined),
        decide: () => decide((round += 1)),
        settle: resolve,
      };
      loop.submit(task);
    });
  const span = name === undefined ? undefined : tracing.continued(name, 'from the gateway');
  return span === undefined ? submit() : tracing.within(span, submit);
}

/** The stages of a command, without the span of which they are parts. */
function stagesOf(name: string): string[] {
  return tracing.lines
    .filter((line) => line.includes(` < ${name}`))
    .map((line) => line.split(' < ')[0] ?? '');
}

describe('the trail of a command', () => {
  it('is queue, reservation, decision, the append of before, its own, and what it sets free', async () => {
    await open();
    await carriedOut('first', true, () => says([NOTED, NOTED], { unused: SET_FREE }));
    const whole = ['queue', 'reserve', 'decide', 'journal wait', 'journal append', 'release'];
    expect(stagesOf('first')).toEqual(whole);
    expect(tracing.lines.filter((line) => line.endsWith('(open)'))).toEqual([
      'first < from the gateway (open)',
    ]);
    const append = tracing.spans.find(({ name }) => name === 'journal append');
    // The journal begins with the record of its epoch.
    expect(append?.facts).toEqual({ records: 2, firstSequence: 2 });
  });

  it('has no stage that the command does not come through', async () => {
    await open();
    await carriedOut('refused', false, () => says([]));
    expect(stagesOf('refused')).toEqual(['queue', 'decide', 'journal wait']);
    await carriedOut('recorded', false, () => says([NOTED]));
    expect(stagesOf('recorded')).toEqual(['queue', 'decide', 'journal wait', 'journal append']);
  });

  it('goes round again with a command that is decided anew, or in parts', async () => {
    await open();
    await carriedOut('again', false, (round) => (round === 1 ? AGAIN : says([])));
    expect(stagesOf('again')).toEqual(['queue', 'decide', 'queue', 'decide', 'journal wait']);
    await carriedOut('parts', false, (round) => says([NOTED], round === 1 ? { unfinished: true } : {}));
    expect(stagesOf('parts')).toEqual([
      'queue',
      'decide',
      'queue',
      'decide',
      'journal wait',
      'journal append',
    ]);
  });

  it('ends where nobody knows what was reserved', async () => {
    await open(deskOf(new ReservationFault('UNAVAILABLE', 'the database is away')));
    const answer = await carriedOut('unsure', true, () => says([]));
    expect([answer.status, stagesOf('unsure')]).toEqual([503, ['queue', 'reserve']]);
    expect(tracing.lines.filter((line) => line.includes(' < unsure (open)'))).toEqual([]);
  });

  it('is that of each command by itself where they share an append', async () => {
    await open();
    const names = ['one', 'two', 'three'];
    await Promise.all(names.map((name) => carriedOut(name, false, () => says([NOTED]))));
    const appends = tracing.spans.filter(({ name }) => name === 'journal append');
    expect(appends.map(({ partOf }) => partOf)).toEqual(names);
    expect(appends.map(({ facts }) => facts)).toEqual(names.map(() => ({ records: 3, firstSequence: 2 })));
  });

  it('is not kept of a command that nobody traces', async () => {
    await open();
    await carriedOut(undefined, true, () => says([NOTED]));
    expect(tracing.spans).toEqual([]);
  });
});
