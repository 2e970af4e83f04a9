import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCluster } from '#libs/testing/cluster/cluster.js';
import { overHttp } from '../http-observers.js';
import { castFrom, noise, OBSERVERS, type Meanwhile, type Transcripts } from '../observers.js';
import { StreamFloor } from '../stream-floor.js';
import { overStreams } from '../stream-observers.js';

const SETTINGS = { GATEWAYS: '2', LIMITS_FACTOR: '50', LOAD_ACCOUNTS: 'makers:16,originators:4' };

let floor: StreamFloor;
let noises = 0;
const ROADS = { HTTP: overHttp, streams: overStreams };
type Road = keyof typeof ROADS;
const alone = new Map<Road, Transcripts>();
const amongOthers = new Map<Road, Transcripts>();

async function perform(road: Road): Promise<void> {
  const [quiet, loud] = await Promise.all([castFrom(floor), castFrom(floor)]);
  const nothing: Meanwhile = () => Promise.resolve();
  const loudly: Meanwhile = async (id) => {
    await noise(loud, id);
    noises += 1;
  };
  const [first, second] = await Promise.all([
    ROADS[road](floor, quiet, nothing),
    ROADS[road](floor, loud, loudly),
  ]);
  alone.set(road, first);
  amongOthers.set(road, second);
}

beforeAll(async () => {
  floor = new StreamFloor(await startCluster({ env: SETTINGS }));
  // No award is settled while the silent makers read.
  floor.cluster.kill('settler', 'SIGSTOP');
  try {
    await Promise.all([perform('HTTP'), perform('streams')]);
  } finally {
    floor.cluster.kill('settler', 'SIGCONT');
  }
}, 120_000);

afterAll(() => floor.end());

describe('whether or not others quoted', () => {
  it('the others did quote, and much', () => {
    expect(noises).toBeGreaterThan(20);
    for (const road of ['HTTP', 'streams'] as const)
      for (const observer of OBSERVERS) expect(alone.get(road)![observer].length).toBeGreaterThan(10);
    const said = new Set(
      alone.get('streams')!['quoting maker'].flatMap((line) => /^\{"type":"([a-z]+)"/.exec(line)?.[1] ?? []),
    );
    const all = ['ack', 'event', 'pong', 'reject', 'snapshot', 'subscribed', 'welcome'];
    expect([...said].sort()).toEqual(all);
    const resumed = alone.get('streams')!['quoting maker'].filter((line) => line.includes('"resumed":true'));
    expect(resumed).toHaveLength(1);
  });

  it.each(OBSERVERS)('the %s receives the same bytes over HTTP until a result is disclosed', (observer) => {
    expect(amongOthers.get('HTTP')![observer]).toEqual(alone.get('HTTP')![observer]);
  });

  it.each(OBSERVERS)('the streams of the %s have the same bytes until a result is disclosed', (observer) => {
    expect(amongOthers.get('streams')![observer]).toEqual(alone.get('streams')![observer]);
  });
});
