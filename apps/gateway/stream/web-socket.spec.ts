import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { nextTurn } from '#libs/platform/clock.js';
import { StreamWebSocket } from './web-socket.js';

const HEAD_BYTES = 2;
const CLOSE_FRAME = 8;

let writes: Buffer[];
/** While false the other side takes nothing. */
let isTaking: boolean;
let wire: Duplex;
let socket: StreamWebSocket;

/** A connection that remembers with what the kernel would have been bothered. */
function recorded(): Duplex {
  const take = (bytes: Buffer, done: () => void): void => {
    writes.push(bytes);
    if (isTaking) done();
  };
  return new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      take(chunk, done);
    },
    writev: (chunks, done) => {
      take(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done);
    },
  });
}

beforeEach(async () => {
  writes = [];
  isTaking = true;
  wire = recorded();
  const request = new IncomingMessage(new Socket());
  request.method = 'GET';
  request.headers = {
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  };
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  server.handleUpgrade(request, wire, Buffer.alloc(0), (ws) => {
    ws.on('error', () => undefined);
    socket = new StreamWebSocket(ws, wire);
  });
  await nextTurn();
  // The answer to the handshake.
  writes = [];
});

afterEach(() => {
  wire.destroy();
});

/** The frames of some writes, each shorter than 126 bytes: texts, and the number of what is none. */
function framesIn(bytes: Buffer): (string | number)[] {
  const frames: (string | number)[] = [];
  for (let at = 0; at < bytes.length;) {
    const [opcode, length] = [bytes.readUInt8(at) & 0x0f, bytes.readUInt8(at + 1)];
    const payload = bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length);
    frames.push(opcode === 1 ? payload.toString() : opcode);
    at += HEAD_BYTES + length;
  }
  return frames;
}

describe('a socket of the stream', () => {
  it('lets answers that are ready at the same time leave in one write, in their order', async () => {
    socket.send('first');
    socket.send('zweite – ü');
    void Promise.resolve()
      .then(() => undefined)
      .then(() => {
        socket.send('third, a few promises later');
      });
    await nextTurn();
    expect(writes.map(framesIn)).toEqual([['first', 'zweite – ü', 'third, a few promises later']]);
  });

  it('keeps nothing back for what may come in another turn', async () => {
    for (const text of ['one', 'two']) {
      socket.send(text);
      await nextTurn();
    }
    expect(writes.map(framesIn)).toEqual([['one'], ['two']]);
  });

  it('sends what was told together at the end of that', () => {
    socket.cork();
    socket.send('a');
    socket.send('b');
    expect(writes).toEqual([]);
    socket.uncork();
    expect(writes.map(framesIn)).toEqual([['a', 'b']]);
  });

  it('counts what has not left, and says when it has', async () => {
    isTaking = false;
    let written = 0;
    socket.send('x'.repeat(100), () => (written += 1));
    expect(socket.buffered).toBe(HEAD_BYTES + 100);
    await nextTurn();
    expect([socket.buffered, written, writes.length]).toEqual([HEAD_BYTES + 100, 0, 1]);
  });

  it('closes behind what it was told before', async () => {
    socket.send('last words');
    socket.close(4401, 'over');
    await nextTurn();
    expect(writes.flatMap(framesIn)).toEqual(['last words', CLOSE_FRAME]);
  });

  it('lets nobody wait for what will never leave', async () => {
    let written = 0;
    const count = (): void => void (written += 1);
    socket.send('too late', count);
    wire.destroy();
    await nextTurn();
    socket.send('much too late', count);
    expect([writes, written]).toEqual([[], 2]);
  });
});
