import { StreamClient } from '#libs/client/stream-client.js';
import { SideProcess } from '../ground/side-process.js';
import { SingleRowInserts } from '../baselines/single-row-inserts.js';
import type { Ground } from '../ground/ground.js';
import { closedLoop } from '../load/closed-loop.js';
import { openLoop, type Latencies } from '../load/open-loop.js';
import { atMost, noSlowerThan, type RowOutcome, type Row, type Settings } from '../row.js';
import { median } from '../statistics.js';
import { quoteRing } from './quotes.js';

const CLIENTS = 16;
const SHARE = 0.125;
const BARE_SOCKETS = 64;

/** The latency of one mutation at a rate that the cluster carries easily, counted from its scheduled time. */
export const latency: Row = {
  name: 'latency',
  title: 'Latency of quote mutations, open loop at 0.125 of the INSERT baseline',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const floor = await ground.floor();
    const { database_url: url } = floor.cluster.file;
    const ring = await quoteRing(floor, settings, 'latency');
    const inserts = await SingleRowInserts.open(url, CLIENTS);
    const bareServer = await SideProcess.start('bare-stream-server', [url]);
    const bare = await BareClients.open(bareServer.url, BARE_SOCKETS);
    // Warms up: the first calls run cold code.
    await closedLoop(CLIENTS, settings.seconds, () => ring.mutate());
    await closedLoop(CLIENTS, settings.seconds / 2, () => bare.mutate());
    const ours: Latencies[] = [];
    const theirs: Latencies[] = [];
    const rates: number[] = [];
    for (let run = 1; run <= settings.runs; run += 1) {
      const rate = SHARE * (await closedLoop(CLIENTS, settings.seconds / 2, inserts.insert));
      theirs.push(await openLoop(rate, settings.seconds, () => bare.mutate()));
      ours.push(await openLoop(rate, settings.seconds, () => ring.mutate()));
      rates.push(rate);
      settings.say(
        `run ${run} of ${settings.runs} at ${rate.toFixed(0)}/s: ${lastLatencies(ours)}; bare: ${lastLatencies(theirs)}`,
      );
    }
    bare.close();
    await bareServer.stop();
    await inserts.close();
    const of = (all: readonly Latencies[], which: 'p50' | 'p99'): number =>
      median(all.map((one) => one[which]));
    return {
      checks: [
        atMost('p50', 'ms', of(ours, 'p50'), { minimum: 3, goal: 1.5 }),
        noSlowerThan(
          'p99',
          'ms',
          of(ours, 'p99'),
          { name: 'p99 of a bare ws server with reservation and group commit', measured: of(theirs, 'p99') },
          { minimum: 3, goal: 3 },
        ),
        atMost('p99', 'ms', of(ours, 'p99'), { minimum: Infinity, goal: 10 }),
      ],
      details: { rates, ours, theirs, refusals: Object.fromEntries(ring.refusals) },
    };
  },
};

function lastLatencies(runs: readonly Latencies[]): string {
  const last = runs.at(-1);
  return `p50 ${last?.p50.toFixed(2) ?? ''} ms, p99 ${last?.p99.toFixed(2) ?? ''} ms`;
}

/** Clients of the bare server that send as much as ours. */
class BareClients {
  private sent = 0;

  private constructor(private readonly clients: readonly StreamClient[]) {}

  static async open(url: string, count: number): Promise<BareClients> {
    const tokens = Array.from({ length: count }, (_, number) => `account-${number}`);
    return new BareClients(
      await Promise.all(tokens.map((token) => StreamClient.open(url, { token, keepsNothing: true }))),
    );
  }

  async mutate(): Promise<void> {
    this.sent += 1;
    await this.clients[this.sent % this.clients.length]?.ask('quote.revise', {
      auction_id: '0bde3f15-eaff-8919-b5ad-21d15e9f701b',
      quote_id: '0baf02f5-f2e0-8966-97d0-04011f453f6c',
      idempotency_key: `bare-${this.sent}`,
      expected_revision: this.sent,
      price_atoms: 400_000,
    });
  }

  close(): void {
    for (const client of this.clients) client.kill();
  }
}
