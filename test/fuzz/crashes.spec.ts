import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Crashes } from './crashes.js';
import { Unanswered } from '#libs/client/api-client.js';
import { NotPutBack } from './furniture.js';

let server: Server;
let pid: number;
let told: string[];
let crashes: Crashes;

beforeEach(async () => {
  server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  pid = 1;
  told = [];
  const { port } = server.address() as AddressInfo;
  const cluster = {
    get file() {
      return { processes: [{ name: 'gateway-0', pid, url: `http://127.0.0.1:${port}` }] };
    },
  };
  crashes = new Crashes(cluster, judge, 300);
});
afterEach(() => {
  server.close();
});

/** Tells what is added when it stands for itself. */
const judge = {
  held: undefined as string[] | undefined,
  add: (what: string, how: string): unknown => (judge.held ?? told).push(`${what}, ${how}`),
  hold: (): unknown => (judge.held = []),
  letGo: (stands: boolean): void => {
    if (stands) told.push(...(judge.held ?? []));
    judge.held = undefined;
  },
};

const words = (): string => 'the bytes';

it('goes on where everybody is who was there', async () => {
  expect(await crashes.watch(() => Promise.resolve('IN PART'), words)).toBe('IN PART');
  expect([crashes.none, told]).toEqual([true, []]);
});

it('tells of a process that has ended, and behind what, and goes on with the one that has begun', async () => {
  const ended = crashes.watch(() => {
    pid = 2;
    return Promise.reject(new Error('connect ECONNREFUSED'));
  }, words);
  expect(await ended).toBe('NOT AT ALL');
  expect([crashes.none, told]).toEqual([false, ['crash: gateway-0 is another process, the bytes']]);
  expect(await crashes.watch(() => Promise.resolve('IN PART'), words)).toBe('IN PART');
  expect(told).toHaveLength(1);
});

it('waits until it is said who is back, which is a moment behind when it answers', async () => {
  setTimeout(() => (pid = 2), 150);
  await crashes.watch(() => Promise.reject(new Error('connect ECONNREFUSED')), words);
  expect(told).toEqual(['crash: gateway-0 is another process, the bytes']);
});

it('tells of nothing that only follows from it', async () => {
  const hungUp = (ends: boolean) => (): Promise<'IN PART'> => {
    judge.add('hung up on', 'a request');
    if (ends) pid += 1;
    return Promise.resolve('IN PART');
  };
  await crashes.watch(hungUp(false), words);
  expect(told).toEqual(['hung up on, a request']);
  await crashes.watch(hungUp(true), words);
  expect(told.slice(1)).toEqual(['crash: gateway-0 is another process, the bytes']);
});

it('does not take for lost what could not be put back for want of him who has ended', async () => {
  const ended = (): Promise<'IN PART'> => {
    pid = 2;
    return Promise.reject(new NotPutBack('a quote cannot be put back: nobody'));
  };
  await crashes.watch(ended, words);
  expect([crashes.isOver, told]).toEqual([false, ['crash: gateway-0 is another process, the bytes']]);
});

it('tells of one that nobody needed meanwhile, too', async () => {
  await crashes.watch(() => {
    pid = 2;
    return Promise.resolve('AS A WHOLE');
  }, words);
  expect(told).toHaveLength(1);
});

it('takes for no crash what ends a run without one', async () => {
  const fault = new Error('a mistake of the run itself');
  await expect(crashes.watch(() => Promise.reject(fault), words)).rejects.toBe(fault);
});

it('tells of who says nothing any more, and ends the run', async () => {
  const fault = new Unanswered('GET /v1/auctions: no answer in 20000 ms');
  await crashes.watch(() => Promise.reject(fault), words);
  expect([crashes.isOver, told]).toEqual([true, ['GET /v1/auctions: no answer in 20000 ms, the bytes']]);
});

it('tells of what cannot be put back, and ends the run', async () => {
  const fault = new NotPutBack('a quote cannot be put back: 503');
  expect(await crashes.watch(() => Promise.reject(fault), words)).toBe('NOT AT ALL');
  expect([crashes.isOver, told]).toEqual([true, ['a quote cannot be put back: 503, the bytes']]);
});

it('waits for who has begun, so that nobody takes him for away, and ends the run where he never is ready', async () => {
  server.closeAllConnections();
  server.close();
  const ended = (): Promise<'AS A WHOLE'> => {
    pid = 2;
    return Promise.resolve('AS A WHOLE');
  };
  expect(await crashes.watch(ended, words)).toBe('AS A WHOLE');
  expect(told).toEqual([
    'crash: gateway-0 is another process, the bytes',
    'crash: what has ended does not come back, the bytes',
  ]);
  expect([crashes.isOver, crashes.none]).toEqual([true, false]);
});
