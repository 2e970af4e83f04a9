import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { listen } from '#libs/platform/internal-server/internal-server.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { LinkClient } from './link-client.js';
import { LINK_PATH, NOTICES_HEADER, reply } from './link-protocol.js';
import { PEER_HEADER, SERVICE_TOKEN_HEADER } from '#libs/platform/internal-server/internal-host.js';
import { type JournalNotice, journalNotices, type WrittenJournalNotice } from './journal-notices.js';
import { NoticeBoard, receiveNotices } from './notices.js';
import { LinkServer } from './link-server.js';

interface TestRequest {
  readonly op: 'read';
}

const TOKEN = 'a-service-token';

let server: Server;
let url: string;
let owner: LinkServer<TestRequest>;
let notices: NoticeBoard<JournalNotice, WrittenJournalNotice>;
let links: LinkClient<TestRequest>[];
let peers: WebSocket[];
let body: string;

beforeEach(async () => {
  links = [];
  peers = [];
  body = '{}';
  server = createServer();
  notices = new NoticeBoard(journalNotices);
  owner = new LinkServer<TestRequest>({
    serviceTokens: () => [TOKEN],
    handle: () => Promise.resolve({ status: 200, body }),
    notices,
    onFault: () => undefined,
    clock: new SystemClock(),
  });
  owner.attach(server);
  await listen(server, 0, '127.0.0.1');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  for (const link of links) link.close();
  for (const peer of peers) peer.terminate();
  owner.cut();
  server.close();
  server.closeAllConnections();
});

async function listener(): Promise<{
  readonly link: LinkClient<TestRequest>;
  readonly received: JournalNotice[];
}> {
  const received: JournalNotice[] = [];
  const link = new LinkClient<TestRequest>({
    url,
    serviceToken: () => TOKEN,
    peer: 'gateway-0',
    clock: new SystemClock(),
    onNotice: receiveNotices(journalNotices, (notice: JournalNotice) => {
      received.push(notice);
    }),
  });
  links.push(link);
  await eventually(() => expect(link.connected).toBe(true));
  return { link, received };
}

/** A peer that records the frames that it receives. */
async function rawPeer(listens: boolean): Promise<{ readonly socket: WebSocket; readonly frames: string[] }> {
  const headers = { [SERVICE_TOKEN_HEADER]: TOKEN, [PEER_HEADER]: 'raw' };
  const socket = new WebSocket(`${url.replace('http', 'ws')}${LINK_PATH}`, {
    headers: listens ? { ...headers, [NOTICES_HEADER]: 'true' } : headers,
  });
  peers.push(socket);
  const frames: string[] = [];
  socket.on('message', (data: Buffer) => frames.push(data.toString()));
  await new Promise((resolve) => socket.once('open', resolve));
  return { socket, frames };
}

function wait(millis = 60): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, millis));
}

describe('the head of the journal is sent', () => {
  it('to every listening peer when it moves, and to a new link at once', async () => {
    const early = await listener();
    notices.announce({ head: 7 });
    await eventually(() => expect(early.received).toEqual([{ head: 7 }]));
    const late = await listener();
    await eventually(() => expect(late.received).toEqual([{ head: 7 }]));
    notices.announce({ head: 8 });
    await eventually(() =>
      expect([early.received.at(-1), late.received.at(-1)]).toEqual([{ head: 8 }, { head: 8 }]),
    );
    // Requests still get their replies.
    expect(await early.link.request({ op: 'read' })).toEqual(reply(200, {}));
  });

  it('once for all changes of one turn, within the frame of the replies', async () => {
    const { socket, frames } = await rawPeer(true);
    for (let head = 1; head <= 1_000; head += 1) notices.announce({ head });
    await eventually(() => expect(frames).toEqual(['[[0,0,"{\\"head\\":1000}"]]']));
    socket.send('[[4,{"op":"read"}]]');
    await eventually(() => expect(frames[1]).toBe('[[4,200,"{}"]]'));
    expect(frames).toHaveLength(2);
  });

  it('only to peers that listen', async () => {
    const { frames } = await rawPeer(false);
    notices.announce({ head: 7 });
    await wait();
    expect(frames).toEqual([]);
  });

  it('to a stalled peer only when it reads again, and then only the last one', async () => {
    body = 'x'.repeat(1_000_000);
    const { socket, frames } = await rawPeer(true);
    socket.pause();
    // Replies fill the buffers between the two processes.
    for (let id = 1; id <= 20; id += 1) socket.send(`[[${id},{"op":"read"}]]`);
    await wait(200);
    for (let head = 1; head <= 500; head += 1) {
      notices.announce({ head });
      if (head % 10 === 0) await wait(1);
    }
    socket.resume();
    const heads = (): string[] => frames.flatMap((frame) => frame.match(/\[0,0,"[^\]]*\]/g) ?? []);
    await eventually(() => expect(heads().at(-1)).toBe('[0,0,"{\\"head\\":500}"]'));
    expect(heads().length).toBeLessThan(5);
  });
});

describe('the committed events are sent with it', () => {
  const committed = (head: number, ...payloads: string[]): JournalNotice => ({
    head,
    records: { epoch: 4, hash: `hash of ${head}`, payloads },
  });

  it('each with exactly the text that was written', async () => {
    const { received } = await listener();
    const notice = committed(7, '{"a":"\\"\\u0001ä\\\\"}', '[]');
    notices.announce(notice);
    await eventually(() => expect(received).toEqual([notice]));
    // A peer that connects later has missed the earlier ones, and reads the journal.
    const late = await listener();
    await eventually(() => expect(late.received).toEqual([{ head: 7 }]));
  });

  it('together if they are consecutive within one turn, else the head alone is sent', async () => {
    const { received } = await listener();
    notices.announce(committed(7, '1', '2'));
    notices.announce(committed(8, '3'));
    await eventually(() => expect(received).toEqual([committed(8, '1', '2', '3')]));
    notices.announce(committed(9, '4'));
    notices.announce(committed(11, '6'));
    await eventually(() => expect(received[1]).toEqual({ head: 11 }));
    notices.announce({ head: 12 });
    notices.announce(committed(13, '8'));
    await eventually(() => expect(received[2]).toEqual({ head: 13 }));
    notices.announce(committed(14, '9'));
    await eventually(() => expect(received[3]).toEqual(committed(14, '9')));
  });

  it('up to a bound for a stalled peer, which past it gets only the head', async () => {
    const { received } = await listener();
    const large = 'x'.repeat(400_000);
    for (const [first, most] of [
      [0, 2],
      [10, 3],
    ] as const) {
      for (let at = 1; at <= most; at += 1) notices.announce(committed(first + at, large));
      await eventually(() => expect(received.at(-1)?.head).toBe(first + most));
    }
    expect(received.map(({ records }) => records?.payloads.length)).toEqual([2, undefined]);
  });
});

it.each<[string, unknown]>([
  ['{"head":7,"epoch":1,"hash":"h"}', [7]],
  ['{"head":7,"epoch":1,"hash":"h"}', 'x'],
  ['{"head":7,"epoch":"1","hash":"h"}', ['x']],
  ['{"head":7,"epoch":1}', ['x']],
  ['{"head":7}', ['x']],
])('%s with %j is no valid notice', (body, payloads) => {
  expect(journalNotices.read(body, payloads)).toBe(undefined);
});

it('an invalid notice ends the link', async () => {
  const { link, received } = await listener();
  const closed = new Promise<void>((resolve) => {
    const poll = setInterval(() => {
      if (link.connected) return;
      clearInterval(poll);
      resolve();
    }, 5);
  });
  const strange: object = { head: 'seven' };
  notices.announce(strange as JournalNotice);
  await closed;
  expect(received).toEqual([]);
});
