import { afterEach, describe, expect, it } from '@jest/globals';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { RecordedTracing } from '#libs/testing/tracing/recorded-tracing.js';
import { CommandLoop } from './command-loop.js';
import { AGAIN, type Entity, type ShardTypes, type TaskResult } from './task.js';

const NOW = '2026-11-20T12:00:00.000000000Z';

interface TracedTypes extends ShardTypes {
  entity: Entity<never>;
  event: string;
  request: string;
  grant: string;
  release: string;
  /** An HTTP status. */
  reply: number;
}

type Decide = (round: number) => TaskResult<TracedTypes> | typeof AGAIN;

function replies(
  events: readonly string[],
  more: Partial<TaskResult<TracedTypes>> = {},
): TaskResult<TracedTypes> {
  return { events, reply: () => 200, ...more };
}

let loop: CommandLoop<TracedTypes>;
let tracing: RecordedTracing;

async function open(fault?: Error): Promise<void> {
  tracing = new RecordedTracing();
  loop = new CommandLoop({
    writer: await new MemoryJournal(new MemoryJournalStore()).open(0),
    memory: { apply: () => undefined },
    reservations: {
      reserve: (requests) => (fault === undefined ? Promise.resolve(requests) : Promise.reject(fault)),
      release: () => Promise.resolve(),
      isFenced: () => false,
      unavailable: 503,
    },
    encode: (event) => event,
    now: () => NOW,
    clock: new MovableClock(),
    onAppended: () => undefined,
    onCommitted: () => undefined,
    onUnreserved: () => undefined,
    onJournalFailure: (error) => {
      throw error;
    },
    tracing,
  });
  loop.start();
}

afterEach(() => loop.stop());

/** Submits one command, within a span of this name or without a span. */
function carriedOut(name: string | undefined, reserves: boolean, decide: Decide): Promise<number> {
  let round = 0;
  const submit = (): Promise<number> =>
    new Promise((resolve) => {
      loop.submit({
        orderingKey: name ?? 'untraced',
        prelude: () => [],
        reservation: () => (reserves ? 'a' : undefined),
        decide: () => decide((round += 1)),
        settle: resolve,
      });
    });
  const span = name === undefined ? undefined : tracing.continued(name, 'from the gateway');
  return span === undefined ? submit() : tracing.within(span, submit);
}

/** The stages of a command, without their parent span. */
function stagesOf(name: string): string[] {
  return tracing.lines
    .filter((line) => line.includes(` < ${name}`))
    .map((line) => line.split(' < ')[0] ?? '');
}

describe('the trace of a command', () => {
  it('is queue, reservation, decision, the append before its own, its own, and its releases', async () => {
    await open();
    await carriedOut('first', true, () => replies(['noted', 'noted'], { unused: ['a'] }));
    const whole = ['queue', 'reserve', 'decide', 'journal wait', 'journal append', 'release'];
    expect(stagesOf('first')).toEqual(whole);
    expect(tracing.lines.filter((line) => line.endsWith('(open)'))).toEqual([
      'first < from the gateway (open)',
    ]);
    const append = tracing.spans.find(({ name }) => name === 'journal append');
    // The journal begins with the record of its epoch.
    expect(append?.facts).toEqual({ records: 2, firstSequence: 2 });
  });

  it('has no stage that the command did not reach', async () => {
    await open();
    await carriedOut('refused', false, () => replies([]));
    expect(stagesOf('refused')).toEqual(['queue', 'decide', 'journal wait']);
    await carriedOut('recorded', false, () => replies(['noted']));
    expect(stagesOf('recorded')).toEqual(['queue', 'decide', 'journal wait', 'journal append']);
  });

  it('returns to the queue with a command that is decided again, or in parts', async () => {
    await open();
    await carriedOut('again', false, (round) => (round === 1 ? AGAIN : replies([])));
    expect(stagesOf('again')).toEqual(['queue', 'decide', 'queue', 'decide', 'journal wait']);
    await carriedOut('parts', false, (round) => replies(['noted'], round === 1 ? { unfinished: true } : {}));
    expect(stagesOf('parts')).toEqual([
      'queue',
      'decide',
      'queue',
      'decide',
      'journal wait',
      'journal append',
    ]);
  });

  it('ends if the outcome of the reservation is unknown', async () => {
    await open(new Error('the database is away'));
    const answer = await carriedOut('unsure', true, () => replies([]));
    expect([answer, stagesOf('unsure')]).toEqual([503, ['queue', 'reserve']]);
    expect(tracing.lines.filter((line) => line.includes(' < unsure (open)'))).toEqual([]);
  });

  it('belongs to one command, even where several share an append', async () => {
    await open();
    const names = ['one', 'two', 'three'];
    await Promise.all(names.map((name) => carriedOut(name, false, () => replies(['noted']))));
    const appends = tracing.spans.filter(({ name }) => name === 'journal append');
    expect(appends.map(({ partOf }) => partOf)).toEqual(names);
    expect(appends.map(({ facts }) => facts)).toEqual(names.map(() => ({ records: 3, firstSequence: 2 })));
  });

  it('does not exist for an untraced command', async () => {
    await open();
    await carriedOut(undefined, true, () => replies(['noted']));
    expect(tracing.spans).toEqual([]);
  });
});
