import { ApiClient } from '#libs/client/api-client.js';
import type { Ground } from '../ground/ground.js';
import { seedCluster } from '../ground/seeding.js';
import type { OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { HttpConnection, type HttpCall } from '../load/http-connection.js';
import { latenciesOf, type Latencies } from '../load/open-loop.js';
import { atMost, noSlowerThan, type RowCheck, type RowOutcome, type Row, type Settings } from '../row.js';
import { median } from '../statistics.js';

const MANY = 1_000_000;
const FEW = 10_000;
const QUICK = { many: 400, few: 200 };
const AUDIENCE = 8;
/** Pages until the middle of what a maker has seen in the smaller cluster. */
const PAGES = 10;
const READS = ['first page', 'middle page', "rare viewer's page", 'GET', 'events'] as const;
type Read = (typeof READS)[number];
type Calls = Readonly<Record<Read, readonly HttpCall[]>>;

/** Reads of completed auctions, with a hundred times as many. `BENCH_COMPLETED` replaces the million. */
export const completed: Row = {
  name: 'completed',
  title: 'Reads of completed auctions, out of 1,000,000 compared with 10,000',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const asked = Number(process.env.BENCH_COMPLETED ?? MANY);
    const { many, few } = settings.quick ? QUICK : { many: asked, few: FEW };
    const large = await Archive.open(ground, many);
    const small = await Archive.open(ground, few);
    const taken = { large: noLatencies(), small: noLatencies() };
    for (let run = 1; run <= settings.runs; run += 1) {
      for (const read of READS) {
        taken.small[read].push(await small.readFor(read, settings.seconds));
        taken.large[read].push(await large.readFor(read, settings.seconds));
      }
      settings.say(`run ${run} of ${settings.runs}`);
    }
    await large.close();
    await small.close();
    return {
      checks: READS.flatMap((read) => checksOf(read, taken.large[read], taken.small[read], few)),
      details: { many, few, ...taken },
    };
  },
};

function noLatencies(): Record<Read, Latencies[]> {
  return { 'first page': [], 'middle page': [], "rare viewer's page": [], GET: [], events: [] };
}

function checksOf(
  read: Read,
  large: readonly Latencies[],
  small: readonly Latencies[],
  few: number,
): RowCheck[] {
  const p50 = (all: readonly Latencies[]): number => median(all.map((one) => one.p50));
  const p99 = median(large.map((one) => one.p99));
  return [
    noSlowerThan(
      `${read}, p50`,
      'ms',
      p50(large),
      { name: `with ${few}`, measured: p50(small) },
      {
        minimum: 1.5,
        goal: 1.2,
      },
    ),
    atMost(`${read}, p99`, 'ms', p99, { minimum: 20, goal: 20 }),
  ];
}

/** A cluster with this many completed auctions. */
class Archive {
  private constructor(
    private readonly cluster: OwnedCluster,
    private readonly connection: HttpConnection,
    private readonly calls: Calls,
  ) {}

  static async open(ground: Ground, completedAuctions: number): Promise<Archive> {
    const cluster = await ground.cluster({});
    const seeded = await seedCluster(cluster.dataDir, [
      '--completed',
      String(completedAuctions),
      '--audience',
      String(AUDIENCE),
    ]);
    const connection = new HttpConnection(cluster.gatewayUrl);
    const anonymous = new ApiClient(cluster.gatewayUrl);
    const { users } = cluster.file.demo;
    const rare = users.find(({ account_id: id }) => id === seeded.rare_viewer)?.email ?? '';
    const as = async (email: string): Promise<(path: string) => HttpCall> => {
      const token = await anonymous.tokenOf(email, cluster.file.demo.password);
      return (path) => ({ method: 'GET', path, headers: { authorization: `Bearer ${token}` } });
    };
    const maker = await as('load-maker-1@demo.sotto');
    // Its owners have just restarted, and the gateway may not be connected to them yet.
    await eventually(async () => read(connection, maker('/v1/auctions')));
    const rareViewer = await as(rare);
    const originator = await as('load-originator-1@demo.sotto');
    anonymous.close();
    const middle = await middleOf(connection, maker);
    return new Archive(cluster, connection, {
      'first page': [maker('/v1/auctions')],
      'middle page': [maker(middle)],
      "rare viewer's page": [rareViewer('/v1/auctions')],
      GET: seeded.sample_ids.map((id) => originator(`/v1/auctions/${id}`)),
      events: seeded.sample_ids.map((id) => originator(`/v1/auctions/${id}/events`)),
    });
  }

  async readFor(what: Read, seconds: number): Promise<Latencies> {
    const calls = this.calls[what];
    const taken: number[] = [];
    const until = performance.now() + seconds * 1_000;
    for (let number = 0; performance.now() < until; number += 1) {
      const call = calls[number % calls.length];
      if (call === undefined) throw new Error(`nothing to read for ${what}`);
      const begun = performance.now();
      await read(this.connection, call);
      taken.push(performance.now() - begun);
    }
    return latenciesOf(taken);
  }

  async close(): Promise<void> {
    this.connection.close();
    await this.cluster.stop();
  }
}

async function read(connection: HttpConnection, call: HttpCall): Promise<string> {
  const { status, body } = await connection.send(call);
  if (status !== 200) throw new Error(`${call.path} was answered ${status} ${body}`);
  return body;
}

/** The path of a page some pages in, or of the last page if there are fewer. */
async function middleOf(connection: HttpConnection, as: (path: string) => HttpCall): Promise<string> {
  let path = '/v1/auctions';
  for (let page = 0, next = `${path}?limit=10`; page < PAGES; page += 1) {
    const { next_cursor: cursor } = JSON.parse(await read(connection, as(next))) as { next_cursor?: string };
    if (cursor === undefined) break;
    path = `/v1/auctions?cursor=${cursor}`;
    next = `${path}&limit=10`;
  }
  return path;
}
