import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { roleName } from '#libs/schema/roles/database-roles.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { StreamFloor } from '../stream-floor.js';
import { faultsIn, timelinesOf, untilTold, type Timelines } from '../stream-record.js';
import { auctionBody, mustBe, type Trader } from '../trading-floor.js';

const REVISIONS = 20;

jest.setTimeout(60_000);

let cluster: OwnedCluster;
let floor: StreamFloor;
let database: pg.Client;

beforeAll(async () => {
  cluster = await startCluster({ env: { GATEWAYS: '2', LIMITS_FACTOR: '50' } });
  floor = new StreamFloor(cluster);
  database = new pg.Client({ connectionString: cluster.file.database_url });
  await database.connect();
}, 60_000);
afterAll(async () => {
  await database.end();
  floor.close();
  await cluster.stop();
});

/** Grants or revokes the gateways' right to read journals. */
async function gatewaysMay(what: 'grant' | 'revoke'): Promise<void> {
  const { rows } = await database.query<{ name: string }>('select current_database() as name');
  const to = what === 'grant' ? 'to' : 'from';
  await database.query(`${what} select on journal.records ${to} ${roleName(rows[0]!.name, 'gateway')}`);
}

it('events that owners have committed reach the streams of every gateway although no gateway can read the journals', async () => {
  const [originator, mia] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
  const body = auctionBody(floor.contract('venue_a'), [mia], { duration_ms: 600_000 });
  const { auction_id: id } = await originator.opens(body);
  const heard = await Promise.all(
    [0, 1].map(async (gateway) => {
      const stream = await floor.listen('maker-1', {}, { gateway });
      return { stream, subscription: await stream.subscribe() };
    }),
  );
  const untilAllAreTold = async (): Promise<Timelines> => {
    const timelines = await timelinesOf(mia, [id]);
    for (const { stream, subscription } of heard) await untilTold(stream, subscription, timelines);
    return timelines;
  };
  let quote = await mia.quotes(id, 400_000, 5);
  await untilAllAreTold();

  await gatewaysMay('revoke');
  for (let revision = 1; revision <= REVISIONS; revision += 1) {
    quote = mustBe(200, await mia.revise(quote, { price_atoms: 400_000 - revision * 10_000 }));
  }
  expect((await untilAllAreTold()).get(id)?.length).toBeGreaterThan(REVISIONS);
  await gatewaysMay('grant');
  mustBe(200, await mia.withdraw(quote));
  const timelines = await untilAllAreTold();
  for (const { stream, subscription } of heard)
    expect(faultsIn(stream.memory.of(subscription), timelines)).toEqual([]);
});
