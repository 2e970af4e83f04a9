import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { listen } from '#libs/platform/internal-server/internal-server.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { LinkClient } from './link-client.js';
import { fault, reply, type LinkReply } from './link-protocol.js';
import { LinkServer } from './link-server.js';
import { NoticeBoard, receiveNotices, type NoticeFormat } from './notices.js';

/** All requests of this example service. */
type CounterRequest =
  { readonly op: 'add'; readonly request_id: string; readonly amount: number } | { readonly op: 'total' };

/** The notice of the service. Peers need only the latest total. */
interface TotalNotice {
  readonly total: number;
}

const totalNotices: NoticeFormat<TotalNotice> = {
  write: (notice) => notice,
  merge: (_earlier, later) => later,
  forNewcomer: (latest) => latest,
  print: (notice) => [JSON.stringify(notice)],
  read: (body) => {
    const parsed: unknown = JSON.parse(body);
    const isTotal = typeof parsed === 'object' && parsed !== null && 'total' in parsed;
    return isTotal && typeof parsed.total === 'number' ? { total: parsed.total } : undefined;
  },
};

class Counter {
  readonly notices = new NoticeBoard(totalNotices);
  private total = 0;

  readonly handle = (request: CounterRequest): Promise<LinkReply> => {
    if (request.op === 'total') return Promise.resolve(reply(200, { total: this.total }));
    if (request.amount < 0) return Promise.resolve(fault(409, 'amount_negative'));
    this.total += request.amount;
    this.notices.announce({ total: this.total });
    return Promise.resolve(reply(201, { total: this.total }));
  };
}

const clock = new SystemClock();
const TOKEN = 'a-service-token';
let server: Server;
let link: LinkClient<CounterRequest>;
let totals: number[];

beforeEach(async () => {
  const { handle, notices } = new Counter();
  server = createServer();
  new LinkServer<CounterRequest>({
    serviceTokens: () => [TOKEN],
    handle,
    notices,
    onFault: () => undefined,
    clock,
  }).attach(server);
  await listen(server, 0, '127.0.0.1');
  totals = [];
  link = new LinkClient({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serviceToken: () => TOKEN,
    peer: 'reader-0',
    onNotice: receiveNotices(totalNotices, ({ total }) => {
      totals.push(total);
    }),
    clock,
  });
  await eventually(() => expect(link.connected).toBe(true));
});

afterEach(() => {
  link.close();
  server.close();
  server.closeAllConnections();
});

it('sends requests over its own link, and gets replies and refusals', async () => {
  const add = (amount: number): Promise<LinkReply> => link.request({ op: 'add', request_id: 'r', amount });
  expect(await Promise.all([add(2), add(-1), add(3)])).toEqual([
    reply(201, { total: 2 }),
    fault(409, 'amount_negative'),
    reply(201, { total: 5 }),
  ]);
  expect(await link.request({ op: 'total' })).toEqual(reply(200, { total: 5 }));
});

it('receives the notices of the service', async () => {
  for (const amount of [1, 1, 1]) await link.request({ op: 'add', request_id: 'r', amount });
  await eventually(() => expect(totals.at(-1)).toBe(3));
});
