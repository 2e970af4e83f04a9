import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openProxy, type TcpProxy } from './tcp-proxy.js';

let server: Server;
let received: string;
let proxy: TcpProxy;
const clients: Socket[] = [];

beforeEach(async () => {
  received = '';
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
      socket.write(chunk.toString().toUpperCase());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await openProxy({ target: { host: '127.0.0.1', port: (server.address() as AddressInfo).port } });
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.close();
  server.close();
});

async function join(): Promise<{ client: Socket; heard: () => string }> {
  const client = connect(proxy.port, '127.0.0.1');
  clients.push(client);
  let text = '';
  client.on('error', () => undefined);
  client.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await new Promise<void>((resolve) => {
    client.once('connect', resolve);
    client.once('close', () => resolve());
  });
  return { client, heard: () => text };
}

/** Unlike once(), this does not fail on the error before the close of a reset connection. */
function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.on('close', () => resolve());
  });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await wait(2);
}

function wait(millis: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, millis));
}

describe('a proxy', () => {
  it('passes everything on in both directions, even more than fits into a buffer', async () => {
    const { client, heard } = await join();
    const text = 'abc'.repeat(1_000_000);
    client.write(text);
    await until(() => heard().length === text.length);
    expect(heard()).toBe(text.toUpperCase());
  });

  it('cuts what is open and lets new connections through', async () => {
    const { client } = await join();
    client.write('a');
    await until(() => received === 'a');
    const closed = closing(client);
    proxy.cut();
    await closed;
    const next = await join();
    next.client.write('b');
    await until(() => next.heard() === 'B');
  });

  it('refuses until it is healed', async () => {
    proxy.refuse();
    const { client } = await join();
    await closing(client);
    proxy.heal();
    const next = await join();
    next.client.write('b');
    await until(() => next.heard() === 'B');
  });

  it('loses one direction for good on connections that were open during a black hole', async () => {
    const { client, heard } = await join();
    client.write('a');
    await until(() => heard() === 'A');
    proxy.blackhole('to-client');
    client.write('b');
    await until(() => received === 'ab');
    proxy.heal();
    client.write('c');
    await until(() => received === 'abc');
    await wait(20);
    expect(heard()).toBe('A');
    const next = await join();
    next.client.write('d');
    await until(() => next.heard() === 'D');
  });

  it('loses all data sent into a black hole, including the end of the stream', async () => {
    const { client } = await join();
    proxy.blackhole('to-server');
    client.end('a');
    await wait(20);
    expect(received).toBe('');
  });

  it('delays bytes and delivers them after their sender has gone', async () => {
    const { client } = await join();
    client.write('a');
    await until(() => received === 'a');
    proxy.stall('to-server');
    client.write('b');
    await wait(20);
    client.destroy();
    await wait(20);
    expect(received).toBe('a');
    proxy.heal();
    await until(() => received === 'ab');
  });

  it('delays in order', async () => {
    const { client, heard } = await join();
    proxy.delay(40);
    const start = performance.now();
    for (const letter of 'abcdef') {
      client.write(letter);
      await wait(1);
    }
    proxy.delay(0);
    client.write('g');
    await until(() => heard().length === 7);
    expect(heard()).toBe('ABCDEFG');
    expect(performance.now() - start).toBeGreaterThan(39);
  });
});
