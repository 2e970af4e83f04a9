import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Random } from '../simulator/kernel/random.js';
import { BOATS } from './boat-document.js';
import { HostileBatches } from './hostile-batches.js';
import { Judge } from './judge.js';

const BATCHES = 12;
const TOKEN = 'e30.e30.e30';
describe('a server that hangs up', () => {
  let server: Server;

  /** What is found of it. */
  async function found(listener: RequestListener): Promise<string[]> {
    server = createServer({ requireHostHeader: false }, listener);
    server.on('clientError', (_, socket) => socket.destroy());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const judge = new Judge(BOATS);
    const tokens = new Map([['originator-2', TOKEN]]);
    const stillness = {
      hold: async <Thing>(things: readonly Thing[], play: (things: readonly Thing[]) => Promise<unknown>) => {
        await play(things);
        return 'AS A WHOLE' as const;
      },
    };
    const target = { ports: [port], http: BOATS, tokens, known: new Map() };
    const batches = new HostileBatches(target, judge, stillness, new Random('boats'));
    for (let times = 0; times < BATCHES; times += 1) await batches.play();
    return [...judge.violations];
  }

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('on what is malformed may', async () => {
    expect(await found((_, response) => response.end('{}'))).toEqual([]);
  });

  it('on a request that is none of that may not', async () => {
    expect(await found((request) => request.socket.destroy())).toEqual([
      'hung up on, and again when asked alone: launchBoat',
    ]);
  });

  it('in the middle of an answer may not either', async () => {
    const listener: RequestListener = (request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{', () => request.socket.destroy());
    };
    expect(await found(listener)).toEqual(['hung up on, and again when asked alone: launchBoat']);
  });

  it('once, and answers when it is asked again alone, is let pass', async () => {
    let count = 0;
    const listener: RequestListener = (request, response) => {
      count += 1;
      if (count % 100 === 1) request.socket.destroy();
      else response.end('{}');
    };
    expect(await found(listener)).toEqual([]);
  });
});
