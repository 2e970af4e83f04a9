import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { randomSession, uuidNamed } from '#libs/testing/auctions/journaled-auctions.js';
import { AuctionWorld } from '../fixtures/auction-world.js';
import { SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import { TestGateway } from '../fixtures/test-gateway.js';
import { membersOf, type FeedEvent } from './change.js';

const SHARDS = [0, 1, 2];
const ACCOUNTS = ['mia', 'max', 'moe', 'may', 'olga', 'none'].map((name) => uuidNamed(name));

const anySession = fc.record({
  seed: fc.nat(),
  /** Where reading and listening start, as fractions of the whole. */
  startsAt: fc.constantFrom(0, 0, 0.2, 0.5, 0.9),
  listensFrom: fc.double({ min: 0, max: 1, noNaN: true }),
  batches: fc.array(
    fc.record({ shard: fc.constantFrom(...SHARDS), records: fc.integer({ min: 1, max: 30 }) }),
    {
      maxLength: 40,
      size: 'max',
    },
  ),
});

class Recorder {
  readonly heard: FeedEvent[] = [];

  onEvents(_shard: number, events: readonly FeedEvent[]): void {
    this.heard.push(...events);
  }

  timelineOf(auctionId: string): readonly FeedEvent[] {
    return this.heard.filter((event) => event.auctionId === auctionId);
  }
}

describe('what the feed sends an account', () => {
  it('is the remainder of all its timelines, wherever and in whatever batches the journals are read', async () => {
    await fc.assert(
      fc.asyncProperty(anySession, async ({ seed, startsAt, listensFrom, batches }) => {
        const world = new AuctionWorld(SHARDS.map((shard) => randomSession(seed + shard, 3, shard).records));
        for (const shard of SHARDS) world.write(shard, Infinity);
        const start = world.heads.map((head) => Math.floor(head * startsAt));
        const gateway = new TestGateway(world, new SteppedClock(), {
          startingPoint: (shard) => ({
            position: start[shard]!,
            states: world.statesAt(shard, start[shard]!),
          }),
        });
        await gateway.start();
        for (const { shard, records } of batches.slice(0, batches.length * listensFrom)) {
          await gateway.takeIn(shard, records);
        }
        const recorders = new Map(ACCOUNTS.map((account) => [account, new Recorder()]));
        const known = new Map(
          ACCOUNTS.flatMap((account) =>
            world
              .idsOf(account)
              .map((id) => [`${account} ${id}`, versionIn(gateway, world, account, id)] as const),
          ),
        );
        for (const [account, recorder] of recorders) gateway.feed.listen(account, recorder);
        for (const { shard, records } of batches.slice(batches.length * listensFrom)) {
          await gateway.takeIn(shard, records);
        }
        await gateway.takeInAll();
        for (const [account, recorder] of recorders) {
          const sent = world.idsOf(account).flatMap((id) => {
            const rest = world.timelineOf(account, id).slice(known.get(`${account} ${id}`));
            expect(recorder.timelineOf(id).map(({ members }) => members)).toEqual(
              rest.map(({ seq, ...entry }) => membersOf(id, seq, entry)),
            );
            return rest;
          });
          expect(recorder.heard).toHaveLength(sent.length);
        }
        expect(gateway.faults).toEqual([]);
        await gateway.stop();
      }),
      { numRuns: 60 },
    );
  });

  it('can be read or counted again from any position that is still held', async () => {
    await fc.assert(
      fc.asyncProperty(anySession, fc.integer({ min: 1, max: 60 }), async ({ seed, batches }, history) => {
        const world = new AuctionWorld(SHARDS.map((shard) => randomSession(seed + shard, 3, shard).records));
        for (const shard of SHARDS) world.write(shard, Infinity);
        const gateway = new TestGateway(world, new SteppedClock(), { history });
        await gateway.start();
        const [account] = ACCOUNTS;
        const recorder = new Recorder();
        const shards: number[] = [];
        gateway.feed.listen(account!, {
          onEvents: (shard, events) => {
            recorder.onEvents(shard, events);
            shards.push(...events.map(() => shard));
          },
        });
        for (const { shard, records } of batches) await gateway.takeIn(shard, records);
        for (const shard of SHARDS) {
          for (let position = 0; position <= world.heads[shard]!; position += 1) {
            if (!gateway.feed.reaches(shard, position)) continue;
            const heard = recorder.heard.filter(
              (event, at) => shards[at] === shard && event.position > position,
            );
            expect([...gateway.feed.since(account!, shard, position)]).toEqual(heard);
            const gains = [...gateway.feed.gainsSince(account!, shard, position)];
            expect(gains.reduce((sum, { entries }) => sum + entries, 0)).toBe(heard.length);
          }
        }
        await gateway.stop();
      }),
      { numRuns: 40 },
    );
  });
});

/** How far the feed is in the account's timeline of an auction, before anyone listens. */
function versionIn(gateway: TestGateway, world: AuctionWorld, account: string, auctionId: string): number {
  const shard = Number(auctionId[0]);
  return world.lengthAt(account, auctionId, gateway.feed.positions()[shard] ?? 0);
}
