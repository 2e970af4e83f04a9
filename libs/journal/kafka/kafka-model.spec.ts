import { it } from '@jest/globals';
import fc from 'fast-check';
import { JournalWorld } from '#libs/testing/kafka/journal-world.js';
import type { LookFate, SendFate } from '#libs/testing/kafka/memory-topic.js';

const which = fc.nat(5);
const step = fc.oneof(
  fc.record({ does: fc.constant('open' as const) }),
  fc.record({ does: fc.constant('open both' as const) }),
  fc.record({
    does: fc.constant('open under load' as const),
    which,
    records: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ does: fc.constant('append' as const), which, records: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ does: fc.constant('together' as const), which, other: which }),
  fc.record({ does: fc.constant('release' as const) }),
  fc.record({ does: fc.constant('read' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const send = fc.constantFrom<SendFate>(
  ...Array<SendFate>(4).fill('answered'),
  'refused',
  'lost before',
  'lost behind',
  'late',
  'late',
);
const look = fc.constantFrom<LookFate>(...Array<LookFate>(5).fill('right'), 'behind', 'broken');

async function take(world: JournalWorld, does: Step): Promise<void> {
  switch (does.does) {
    case 'open':
      await world.tryToOpen();
      return;
    case 'open both':
      await Promise.all([world.tryToOpen(), world.tryToOpen()]);
      return;
    case 'open under load':
      await Promise.all([
        world.tryToOpen(),
        ...[1, 2, 3].map(() => world.append(does.which, does.records)),
        world.append(does.which + 1, 1),
      ]);
      return;
    case 'append':
      await world.append(does.which, does.records);
      return;
    case 'together':
      await Promise.all([world.append(does.which, 1), world.append(does.other, 2)]);
      return;
    case 'release':
      world.topic.release();
      return;
    case 'read':
  }
}

it('gives every caller a true outcome, whatever happens to the sends and reads of several writers', async () => {
  const run = fc.asyncProperty(
    fc.array(step, { maxLength: 14 }),
    fc.array(send, { maxLength: 24 }),
    fc.array(look, { maxLength: 24 }),
    fc.array(fc.nat(3), { maxLength: 80 }),
    async (steps, sends, looks, delays) => {
      const world = new JournalWorld();
      try {
        await world.open();
        const watcher = world.reader();
        world.topic.expect(...sends);
        world.topic.expectLooks(...looks);
        world.topic.delay(...delays);
        for (const each of steps) {
          await take(world, each);
          if (each.does === 'read') await watcher.heads().catch(() => undefined);
        }
        world.topic.calm();
        await world.check([watcher]);
      } finally {
        await world.close();
      }
    },
  );
  await fc.assert(run, { numRuns: 300 });
});
