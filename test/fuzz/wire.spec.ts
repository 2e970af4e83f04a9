import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { exchange, type NoAnswer, type WireAnswer } from './wire.js';

const REQUEST = { method: 'GET', target: '/', headers: [], body: Buffer.alloc(0), isIncomplete: true };
let server: Server;

async function answered(answer: (socket: Socket) => void): Promise<WireAnswer | NoAnswer> {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return exchange((server.address() as AddressInfo).port, REQUEST);
}

afterEach(() => new Promise((resolve) => server.close(resolve)));

it.each<[string, string, unknown]>([
  ['whole', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '' }],
  ['ended by its connection', 'HTTP/1.1 400 Bad Request\r\n\r\nno', { status: 400, body: 'no' }],
  ['missing', '', 'CLOSED'],
  ['cut off in its head', 'HTTP/1.1 200 OK\r\nContent-Le', 'CUT OFF'],
  ['cut off in its body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"a"', 'CUT OFF'],
  ['cut off in its chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n', 'CUT OFF'],
])('an answer is %s', async (_, answer, expected) => {
  const told = await answered((socket) => socket.end(answer));
  if (typeof expected === 'string') expect(told).toBe(expected);
  else expect(told).toMatchObject(expected as object);
});

it('a missing answer is distinguished by its cause', async () => {
  expect(await answered(() => undefined)).toBe('SILENCE');
});
