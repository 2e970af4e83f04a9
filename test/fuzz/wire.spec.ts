import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { exchange } from './wire.js';

const ASKED = Buffer.from('GET / HTTP/1.1\r\n\r\n');

describe('bytes that are sent', () => {
  let server: Server;

  async function answering(answer: (socket: Socket) => void): Promise<number> {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => answer(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  afterEach(() => new Promise((resolve) => server.close(resolve)));

  it('are answered', async () => {
    const port = await answering((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
    expect(await exchange(port, ASKED, false)).toMatchObject({ status: 204, body: '' });
  });

  it('may be hung up on', async () => {
    const port = await answering((socket) => socket.destroy());
    expect(await exchange(port, ASKED, false)).toBe('CLOSED');
  });

  it.each([
    ['its head', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['its body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"a"'],
    ['its chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n'],
  ])('may be hung up on in the middle of %s', async (_, answer) => {
    const port = await answering((socket) => socket.end(answer));
    expect(await exchange(port, ASKED, false)).toBe('CUT OFF');
  });

  it('are answered to the end of a connection where nothing else says where the end is', async () => {
    const port = await answering((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\nno'));
    expect(await exchange(port, ASKED, false)).toMatchObject({ status: 400, body: 'no' });
  });

  it('are met with silence, which is told apart', async () => {
    const port = await answering(() => undefined);
    expect(await exchange(port, ASKED, true)).toBe('SILENCE');
    expect(await exchange(port, ASKED, false)).toBe('SILENCE');
  }, 30_000);
});
