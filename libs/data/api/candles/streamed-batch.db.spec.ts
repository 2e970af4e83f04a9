import { request, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Pool } from 'pg';
import { isoTime } from '../../rules/times.js';
import { eventually } from '#libs/testing/eventually.js';
import { IngestWorld } from '#libs/testing/data/ingest-world.js';
import { SeriesListener } from '#libs/testing/data/series-listener.js';
import { marketEvent, START } from '#libs/testing/data/streams.js';

jest.setTimeout(120_000);

const MINUTE = 60_000_000;
const BARS = 43_200;
const ITEMS = 9;
const NOON = START + 14 * 60 * MINUTE;

let world: IngestWorld;
let listener: SeriesListener;
let reads = 0;

/** Counts the reads of candles, and passes all calls on. */
function counted(pool: Pool): Pool {
  return new Proxy(pool, {
    get(target, name) {
      if (name !== 'query') return Reflect.get(target, name) as unknown;
      return (query: { readonly name?: string }) => {
        if (query.name === 'data-bars') reads += 1;
        return target.query(query as { name: string; text: string });
      };
    },
  });
}

/** One market that traded every minute for thirty days. */
beforeAll(async () => {
  world = await IngestWorld.make();
  await world.ingestAll('venue_a', [[marketEvent('venue_a', 'm')]]);
  const { pool } = world.database;
  await pool.query('select data.make_months($1, $2)', [
    'data',
    Array.from({ length: 31 }, (_, day) => NOON - day * 1_440 * MINUTE),
  ]);
  await pool.query(
    `insert into data.candles
     select market_no * 64, 60, $1 - n * ${MINUTE}::bigint, 500000, 600000, 400000, 500000, 1000000, 1, 1, 0, 1, 'a', 0, 1, 'b'
     from data.markets, generate_series(1, ${BARS}) n`,
    [NOON],
  );
  listener = await SeriesListener.open(counted(pool), { epochNanos: () => BigInt(NOON) * 1_000n });
});
afterAll(async () => {
  await listener.close();
  await world.end();
});

const BATCH = JSON.stringify({
  requests: Array.from({ length: ITEMS }, () => ({
    ...{ provider: 'venue_a', contract_id: 'm', timeframe_seconds: 60 },
    ...{ start: isoTime(NOON - BARS * MINUTE), end: isoTime(NOON) },
  })),
});

function openBatch(): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(`${listener.url}/candles/batch`, {
      method: 'POST',
      headers: listener.headers,
      agent: false,
    });
    sent.on('response', resolve).on('error', reject);
    sent.end(BATCH);
  });
}

/** Resolves when nothing more is read for a while. */
function standsStill(): Promise<void> {
  return eventually(async () => {
    const before = reads;
    await pause(400);
    expect(reads).toBe(before);
  });
}

it('a batch is read only as fast as the client takes it, and arrives complete', async () => {
  reads = 0;
  const reply = await openBatch();
  reply.pause();
  await standsStill();
  expect(reads).toBeGreaterThanOrEqual(4);
  expect(reads).toBeLessThan(20);
  const chunks: Buffer[] = [];
  for await (const chunk of reply) chunks.push(chunk as Buffer);
  const { results } = JSON.parse(Buffer.concat(chunks).toString()) as {
    readonly results: readonly { readonly index: number; readonly candles: readonly unknown[] }[];
  };
  expect(results.map(({ index, candles }) => [index, candles.length])).toEqual(
    Array.from({ length: ITEMS }, (_, index) => [index, BARS]),
  );
  expect(reads).toBe(ITEMS * 5);
});

it('reading stops when the client disconnects', async () => {
  reads = 0;
  const reply = await openBatch();
  reply.destroy();
  await standsStill();
  expect(reads).toBeLessThan(20);
  expect(listener.faults).toEqual([]);
});
