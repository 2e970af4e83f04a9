import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { IngestWorld } from '#libs/testing/data/ingest-world.js';
import { bustOf, marketEvent, START, tradeEvent } from '#libs/testing/data/streams.js';
import { VolumesApart } from './volumes-apart.js';

const CONTRACT = 1_000_000n;

let world: IngestWorld;
let trades = 0;

beforeAll(async () => {
  world = await IngestWorld.make();
  await world.ingestAll('venue_b', [['steady', 'busy', 'quiet'].map((id) => marketEvent('venue_b', id))]);
});
afterAll(() => world.end());

async function trade(market_id: string, contracts: bigint): Promise<void> {
  trades += 1;
  const named = { source_id: `t-${String(trades)}`, source_ts: START + trades, size: contracts * CONTRACT };
  await world.ingestAll('venue_b', [[tradeEvent('venue_b', market_id, named)]]);
}

const counts = (volumes: Readonly<Record<string, bigint>>) => (): Promise<ReadonlyMap<string, bigint>> =>
  Promise.resolve(new Map(Object.entries(volumes).map(([id, contracts]) => [id, contracts * CONTRACT])));

it('a trade that the venue counts and we do not have, or the other way round, is found once; what is only under way is not', async () => {
  const apart = new VolumesApart(world.database.pool, 'venue_b');
  await trade('steady', 5n);
  // The venue had counted 100 contracts of this market before we began.
  const before = counts({ steady: 5n, busy: 100n, quiet: 0n });
  expect(await apart.find(before)).toEqual([]);
  expect(await apart.find(before)).toEqual([]);
  expect(await apart.find(counts({ steady: 5n, busy: 102n, quiet: 0n }))).toEqual([]);
  // The two contracts that the venue counted have arrived since.
  await trade('busy', 2n);
  expect(await apart.find(counts({ steady: 8n, busy: 102n, quiet: 0n }))).toEqual([]);
  await trade('quiet', 1n);
  expect(await apart.find(counts({ steady: 8n, busy: 102n, quiet: 0n }))).toEqual(['steady']);
  expect(await apart.find(counts({ steady: 8n, busy: 102n, quiet: 0n }))).toEqual(['quiet']);
  expect(await apart.find(counts({ steady: 8n, busy: 102n, quiet: 0n }))).toEqual([]);
});

it('a venue that does not answer is compared with nothing', async () => {
  const apart = new VolumesApart(world.database.pool, 'venue_b');
  await apart.find(counts({ steady: 5n }));
  await apart.find(counts({ steady: 5n }));
  expect(await apart.find(() => Promise.resolve(undefined))).toEqual([]);
  expect(await apart.find(counts({ steady: 900n }))).toEqual([]);
  expect(await apart.find(counts({ steady: 900n }))).toEqual([]);
});

it('a bust is no difference: the comparison begins again, whether or not the venue takes the trade back too', async () => {
  const apart = new VolumesApart(world.database.pool, 'venue_b');
  await trade('quiet', 4n);
  const before = counts({ quiet: 4n });
  for (let time = 0; time < 3; time += 1) expect(await apart.find(before)).toEqual([]);
  const named = { source_id: `t-${String(trades)}`, source_ts: START + trades, size: 4n * CONTRACT };
  await world.ingestAll('venue_b', [[bustOf(tradeEvent('venue_b', 'quiet', named))]]);
  for (const count of [before, counts({ quiet: 0n }), counts({ quiet: 0n }), counts({ quiet: 0n })])
    expect(await apart.find(count)).toEqual([]);
});
