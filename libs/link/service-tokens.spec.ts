import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { pause } from '#libs/platform/time/clock.js';
import { listen } from '#libs/platform/internal-server/internal-server.js';
import { pickPorts } from '#libs/platform/supervision/ports.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { LinkClient } from './link-client.js';
import { LINK_PATH, reply } from './link-protocol.js';
import { PEER_HEADER, SERVICE_TOKEN_HEADER } from '#libs/platform/internal-server/internal-host.js';
import { LinkServer } from './link-server.js';
import { openServiceTokens, TokenFile, watchServiceTokens } from './service-tokens.js';

interface TestRequest {
  readonly op: 'echo';
  readonly text: string;
}

const OLD = 'old-'.repeat(8);
const NEW = 'new-'.repeat(8);
const clock = new SystemClock();

let folder: string;
let file: string;
let faults: string[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sotto-tokens-'));
  file = path.join(folder, 'tokens');
  faults = [];
});
afterEach(() => rm(folder, { recursive: true }));

async function tokensOf(...lines: string[]): Promise<TokenFile> {
  await writeFile(file, lines.join('\n'));
  return new TokenFile(file, (error) => faults.push(error.message));
}

describe('a file of service tokens', () => {
  it('presents the first token and accepts all', async () => {
    const tokens = await tokensOf(NEW, `  ${OLD}  `, '');
    expect([tokens.shown(), tokens.accepted()]).toEqual([NEW, [NEW, OLD]]);
  });

  it.each([
    ['nothing', [''], 'it holds no token'],
    ['a short token', [NEW, 'short'], 'a token in it has less than 32 characters'],
    ['too many tokens', [NEW, OLD, NEW, OLD], 'it holds more than 3 tokens'],
    ['a long file', ['x'.repeat(5_000)], 'it has more than 4096 bytes'],
  ])('refuses %s, and never shows a token', async (_what, lines, why) => {
    await expect(tokensOf(...lines)).rejects.toThrow(
      `SERVICE_TOKEN_FILE=${JSON.stringify(file)} is wrong: ${why}`,
    );
  });

  it('is logged at the start and after each change, as fingerprints and never as tokens', async () => {
    await writeFile(file, OLD);
    const logged: unknown[] = [];
    const stops: (() => Promise<void> | void)[] = [];
    watchServiceTokens(
      { SERVICE_TOKEN: undefined, SERVICE_TOKEN_FILE: file },
      {
        clock,
        log: { info: (fields: object) => logged.push(fields), error: () => undefined },
        scope: { onStop: (_name, stop) => stops.push(stop) },
      },
    );
    await writeFile(file, `${OLD}\n${NEW}`);
    await eventually(() => {
      expect(logged).toHaveLength(2);
    });
    await writeFile(file, `${NEW}\n${OLD}`);
    await eventually(() => {
      expect(logged).toHaveLength(3);
    });
    // printf %s "$TOKEN" | sha256sum | head -c 8
    const [was, is] = ['9c5230e7', 'a94ddb8d'];
    expect(logged).toEqual(
      [[was], [was, is], [is, was]].map((fingerprints) => ({ service_tokens: fingerprints })),
    );
    for (const stop of stops) await stop();
  });

  it('refuses a file that is not there', () => {
    expect(() => new TokenFile(file, () => undefined)).toThrow(/is wrong: ENOENT/);
  });

  it('applies a change, once', async () => {
    const tokens = await tokensOf(OLD);
    let changes = 0;
    const cancel = tokens.onChange(() => {
      changes += 1;
    });
    await writeFile(file, `${NEW}\n${OLD}\n`);
    await tokens.poll();
    await tokens.poll();
    expect([changes, tokens.shown(), tokens.accepted()]).toEqual([1, NEW, [NEW, OLD]]);
    cancel();
    await writeFile(file, NEW);
    await tokens.poll();
    expect([changes, tokens.accepted()]).toEqual([1, [NEW]]);
  });

  it('does not wait for a writer of a pipe', async () => {
    const tokens = await tokensOf(OLD);
    await rm(file);
    execFileSync('mkfifo', [file]);
    await tokens.poll();
    expect([tokens.accepted(), faults]).toEqual([[OLD], ['it is no file']]);
    expect(() => new TokenFile(file, () => undefined)).toThrow('is wrong: it is no file');
    await rm(file);
    await writeFile(file, NEW);
    await tokens.poll();
    expect(tokens.accepted()).toEqual([NEW]);
  });

  it('keeps its tokens while the file is invalid, and logs that once', async () => {
    const tokens = await tokensOf(OLD);
    await writeFile(file, '');
    await tokens.poll();
    await tokens.poll();
    expect([tokens.accepted(), faults]).toEqual([[OLD], ['it holds no token']]);
    await rm(file);
    await tokens.poll();
    expect(tokens.accepted()).toEqual([OLD]);
    await writeFile(file, NEW);
    await tokens.poll();
    expect(tokens.accepted()).toEqual([NEW]);
  });

  it('takes precedence over SERVICE_TOKEN', async () => {
    await writeFile(file, NEW);
    const opened = openServiceTokens(
      { SERVICE_TOKEN: OLD, SERVICE_TOKEN_FILE: file },
      clock,
      () => undefined,
    );
    opened.stop();
    expect(opened.tokens.accepted()).toEqual([NEW]);
  });
});

describe('a rotation', () => {
  let server: Server;
  let links: LinkServer<TestRequest>;
  let url: string;
  let serverTokens: TokenFile;
  let handled: string[];

  beforeEach(async () => {
    handled = [];
    serverTokens = await tokensOf(OLD);
    const [port = 0] = await pickPorts(1);
    server = createServer();
    await listen(server, port, '127.0.0.1');
    url = `http://127.0.0.1:${port}`;
    links = new LinkServer<TestRequest>({
      serviceTokens: () => serverTokens.accepted(),
      // Some replies are slow, so that requests on the old connection are still open.
      handle: async (request) => {
        handled.push(request.text);
        await pause(clock, request.text === 'slow' ? 300 : 1);
        return reply(200, {});
      },
      onFault: (error) => faults.push(String(error)),
      clock,
    });
    links.attach(server);
    serverTokens.onChange(() => {
      links.dropRevoked();
    });
  });
  afterEach(async () => {
    await links.close();
    server.close();
    server.closeAllConnections();
  });

  async function accept(...tokens: string[]): Promise<void> {
    await writeFile(file, tokens.join('\n'));
    await serverTokens.poll();
  }

  it('ignores and disconnects a peer that stays after its token was removed', async () => {
    const headers = { [SERVICE_TOKEN_HEADER]: OLD, [PEER_HEADER]: 'gateway-0' };
    const stubborn = new WebSocket(`${url.replace('http', 'ws')}${LINK_PATH}`, { headers });
    await once(stubborn, 'open');
    const ask = (text: string): void => {
      stubborn.send(JSON.stringify([[1, { op: 'echo', text }]]));
    };
    ask('before');
    await eventually(() => expect(handled).toEqual(['before']));
    // It does not answer the close frame.
    stubborn.close = () => undefined;
    await accept(NEW);
    ask('after');
    await once(stubborn, 'close');
    expect(handled).toEqual(['before']);
  });

  it('fails no request if it is made in three steps', async () => {
    const tokens = { shown: OLD };
    const link = new LinkClient<TestRequest>({
      url,
      serviceToken: () => tokens.shown,
      peer: 'gateway-0',
      clock,
      timeoutMillis: 1_000,
    });
    await eventually(() => expect(link.connected).toBe(true));
    let asked = 0;
    const failed: unknown[] = [];
    const stop = new AbortController();
    const waiting: Promise<unknown>[] = [];
    const asking = (async () => {
      while (!stop.signal.aborted) {
        asked += 1;
        const text = asked % 10 === 0 ? 'slow' : 'quick';
        const answered = link.request({ op: 'echo', text });
        waiting.push(answered.catch((error: unknown) => failed.push(error)));
        await pause(clock, 2);
      }
      await Promise.all(waiting);
    })();
    // A gateway that rotates before its server presents a token that is not accepted yet, and tries again.
    const former = link.connection;
    tokens.shown = NEW;
    link.renew();
    await pause(clock, 100);
    expect(link.connection).toBe(former);
    await accept(OLD, NEW);
    await pause(clock, 2_300);
    await accept(NEW);
    await pause(clock, 100);
    stop.abort();
    await asking;
    expect(failed).toEqual([]);
    expect(asked).toBeGreaterThan(200);
    expect(link.connected).toBe(true);
    expect(link.connection).not.toBe(former);
    link.close();
  });

  it('disconnects a peer whose token was removed, and refuses it with 403 afterwards', async () => {
    const headers = { [SERVICE_TOKEN_HEADER]: OLD, [PEER_HEADER]: 'thief' };
    const thief = new WebSocket(`${url.replace('http', 'ws')}${LINK_PATH}`, { headers });
    await new Promise((resolve) => thief.once('open', resolve));
    const closed = new Promise((resolve) => thief.once('close', resolve));
    await accept(NEW);
    expect(await closed).toBe(1008);
    const again = new WebSocket(`${url.replace('http', 'ws')}${LINK_PATH}`, { headers });
    const refused = await new Promise<string>((resolve) =>
      again.once('error', (error) => resolve(error.message)),
    );
    expect(refused).toBe('Unexpected server response: 403');
  });
});
