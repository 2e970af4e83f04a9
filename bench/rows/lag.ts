import pg from 'pg';
import { SingleRowInserts } from '../baselines/single-row-inserts.js';
import type { Ground } from '../ground/ground.js';
import { closedLoop } from '../load/closed-loop.js';
import { openLoop } from '../load/open-loop.js';
import { atMost, type RowOutcome, type Row, type Settings } from '../row.js';
import { percentile } from '../statistics.js';
import { quoteRing } from './quotes.js';

const CLIENTS = 16;
const SHARE = 0.5;
const POLL_MILLIS = 20;
const DURATION_FACTOR = 3;

const POSITIONS = `
  select shards.shard, last.sequence as head, coalesce(positions.sequence, 0) as position from journal.shards
  cross join lateral (select sequence from journal.records where family = shards.family and shard = shards.shard order by sequence desc limit 1) last
  left join auction_history.projection_offsets positions on positions.shard = shards.shard`;

/** How far the projections lag while quotes come at the target rate. */
export const lag: Row = {
  name: 'lag',
  title: 'Projection lag while quotes run at their target',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const floor = await ground.floor();
    const { database_url: url } = floor.cluster.file;
    const ring = await quoteRing(floor, settings, 'lag');
    const inserts = await SingleRowInserts.open(url, CLIENTS);
    const rate = SHARE * (await closedLoop(CLIENTS, settings.seconds, inserts.insert));
    await inserts.close();
    const watch = await LagWatch.begin(url);
    const latencies = await openLoop(rate, settings.seconds * DURATION_FACTOR, () => ring.mutate());
    const lags = await watch.end();
    return {
      checks: [atMost('largest lag', 'ms', percentile(lags, 100), { minimum: 1_000, goal: 200 })],
      details: {
        rate,
        p50: percentile(lags, 50),
        p99: percentile(lags, 99),
        latencies,
        refusals: Object.fromEntries(ring.refusals),
      },
    };
  },
};

/** Polls heads and positions. The lag of a head ends once the position has reached it. */
class LagWatch {
  private readonly lags: number[] = [];
  private readonly pending = new Map<number, { readonly head: number; readonly seenAt: number }[]>();
  private stopped = false;
  private readonly polling: Promise<void>;

  private constructor(private readonly client: pg.Client) {
    this.polling = this.poll();
  }

  static async begin(url: string): Promise<LagWatch> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    return new LagWatch(client);
  }

  /** The lags of all observed heads, in milliseconds. Waits until everything is projected. */
  async end(): Promise<readonly number[]> {
    this.stopped = true;
    await this.polling;
    await this.client.end();
    return this.lags;
  }

  private async poll(): Promise<void> {
    do {
      await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS));
      const { rows } = await this.client.query<{ shard: number; head: string; position: string }>(POSITIONS);
      for (const { shard, head, position } of rows) this.note(shard, Number(head), Number(position));
    } while (!this.stopped || [...this.pending.values()].some((heads) => heads.length > 0));
  }

  private note(shard: number, head: number, position: number): void {
    const now = performance.now();
    const heads = this.pending.get(shard) ?? [];
    if (head > (heads.at(-1)?.head ?? position)) heads.push({ head, seenAt: now });
    while (heads[0] !== undefined && heads[0].head <= position) {
      this.lags.push(now - heads[0].seenAt);
      heads.shift();
    }
    this.pending.set(shard, heads);
  }
}
