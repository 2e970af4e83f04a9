import { alternating } from '../alternating.js';
import type { Ground } from '../ground/ground.js';
import { SideProcess } from '../ground/side-process.js';
import type { BenchFloor } from '../ground/trading-floor.js';
import { closedLoop } from '../load/closed-loop.js';
import { HttpConnection, type HttpCall } from '../load/http-connection.js';
import { QuoteRing } from '../load/quote-ring.js';
import { overHttp } from '../load/quoting.js';
import { asFastAs, type RowOutcome, type Row, type Settings } from '../row.js';

const CONNECTIONS = 16;
const AUDIENCE = 8;
/** Every maker submits once in each auction, and then revises. */
const AUCTIONS = { count: 64, audience: 64 };
const FEW = { count: 8, audience: 16 };
const BARE_QUOTE: HttpCall = {
  method: 'POST',
  path: '/quotes',
  body: JSON.stringify({ price_atoms: 300_000, quantity_atoms: 1_000_000 }),
};

/** Creates and quotes over HTTP, compared with a bare server that only makes bodies durable. */
export const http: Row = {
  name: 'http',
  title: 'HTTP create and HTTP quote, 16 connections',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const floor = await ground.floor();
    const bare = await SideProcess.start('bare-http-server', [floor.cluster.file.database_url]);
    const creates = createsOf(floor);
    const ours = connections(floor.gatewayUrl);
    const theirs = connections(bare.url);
    const { count, audience } = settings.quick ? FEW : AUCTIONS;
    const auctions = await floor.openAuctions(count, audience);
    const tokens = floor.makers.map(({ token }) => token);
    const ring = new QuoteRing(auctions, `http-${performance.now()}`, overHttp(ours, tokens));
    const measure = (call: (caller: number) => Promise<void>): Promise<number> =>
      closedLoop(CONNECTIONS, settings.seconds, call);
    const sent = async (connection: HttpConnection | undefined, call: HttpCall): Promise<void> => {
      const answer = await connection?.send(call);
      if (answer?.status !== 201) throw new Error(`answered ${answer?.status ?? ''} ${answer?.body ?? ''}`);
    };
    const { medians, runs } = await alternating(
      {
        bareCreates: () => measure((caller) => sent(theirs[caller], creates())),
        creates: () => measure((caller) => sent(ours[caller], creates())),
        bareQuotes: () => measure((caller) => sent(theirs[caller], BARE_QUOTE)),
        quotes: () => measure((caller) => ring.mutate(caller)),
      },
      settings,
    );
    for (const connection of [...ours, ...theirs]) connection.close();
    await bare.stop();
    const bounds = { minimum: 0.5, goal: 0.8 };
    const name = 'raw node:http with group commit';
    return {
      checks: [
        asFastAs('creates', '/s', medians.creates, { name, measured: medians.bareCreates }, bounds),
        asFastAs('quotes', '/s', medians.quotes, { name, measured: medians.bareQuotes }, bounds),
      ],
      details: { runs, refusals: Object.fromEntries(ring.refusals) },
    };
  },
};

function connections(url: string): HttpConnection[] {
  return Array.from({ length: CONNECTIONS }, () => new HttpConnection(url));
}

function createsOf(floor: BenchFloor): () => HttpCall {
  let number = 0;
  const name = `create-${performance.now()}`;
  return () => {
    number += 1;
    const from = (number * AUDIENCE) % Math.max(1, floor.makers.length - AUDIENCE);
    return {
      method: 'POST',
      path: '/v1/auctions',
      headers: floor.headersOf(number, `${name}-${number}`),
      body: floor.createBody(floor.makers.slice(from, from + AUDIENCE)),
    };
  };
}
