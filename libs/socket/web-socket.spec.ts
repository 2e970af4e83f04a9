import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { nextTurn } from '#libs/platform/time/clock.js';
import { Departures } from './departures.js';
import { StreamWebSocket } from './web-socket.js';

const HEAD_BYTES = 2;
const CLOSE_FRAME = 8;

/** A connection that records the calls to the kernel. */
class RecordedWire extends Duplex {
  writes: Buffer[] = [];
  /** While false the other side reads nothing. */
  isReading = true;

  override _read(): void {
    // No data arrives.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.record(chunk, done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.record(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  /** The frames of each write. */
  get frames(): (string | number)[][] {
    return this.writes.map(framesIn);
  }

  private record(bytes: Buffer, done: () => void): void {
    this.writes.push(bytes);
    if (this.isReading) done();
  }
}

/** Decodes frames shorter than 126 bytes: texts, and the opcode of anything else. */
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

let departures: Departures;
let wire: RecordedWire;
let socket: StreamWebSocket;
const wires: RecordedWire[] = [];

async function open(): Promise<[RecordedWire, StreamWebSocket]> {
  const recorded = new RecordedWire();
  wires.push(recorded);
  const request = new IncomingMessage(new Socket());
  request.method = 'GET';
  request.headers = {
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  };
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const opened = await new Promise<StreamWebSocket>((resolve) => {
    server.handleUpgrade(request, recorded, Buffer.alloc(0), (ws) => {
      ws.on('error', () => undefined);
      resolve(new StreamWebSocket(ws, recorded, departures));
    });
  });
  // The reply to the handshake.
  recorded.writes = [];
  return [recorded, opened];
}

beforeEach(async () => {
  departures = new Departures();
  [wire, socket] = await open();
});

afterEach(() => {
  for (const one of wires.splice(0)) one.destroy();
});

describe('a socket of the stream', () => {
  it('sends replies that are ready at the same time in one write, in order', async () => {
    const [otherWire, other] = await open();
    socket.send('first');
    other.send('to another client');
    socket.send('zweite – ü');
    void Promise.resolve()
      .then(() => undefined)
      .then(() => {
        socket.send('third, a few promises later');
      });
    await nextTurn();
    expect(wire.frames).toEqual([['first', 'zweite – ü', 'third, a few promises later']]);
    expect(otherWire.frames).toEqual([['to another client']]);
  });

  it('sends replies of different turns in separate writes', async () => {
    for (const text of ['one', 'two']) {
      socket.send(text);
      await nextTurn();
    }
    expect(wire.frames).toEqual([['one'], ['two']]);
  });

  it('sends corked frames together at the end', () => {
    socket.cork();
    socket.send('a');
    socket.send('b');
    expect(wire.frames).toEqual([]);
    socket.uncork();
    expect(wire.frames).toEqual([['a', 'b']]);
  });

  it('counts unsent bytes, and calls back only when they have left', async () => {
    wire.isReading = false;
    let written = 0;
    socket.send('x'.repeat(100), () => (written += 1));
    expect(socket.buffered).toBe(HEAD_BYTES + 100);
    await nextTurn();
    expect([socket.buffered, written, wire.writes.length]).toEqual([HEAD_BYTES + 100, 0, 1]);
  });

  it('sends all earlier frames before the close frame', async () => {
    socket.send('last words');
    socket.close(4401, 'over');
    await nextTurn();
    expect(wire.frames.flat()).toEqual(['last words', CLOSE_FRAME]);
  });

  it('calls back also for frames that will never be sent', async () => {
    let written = 0;
    const count = (): void => void (written += 1);
    socket.send('too late', count);
    wire.destroy();
    await nextTurn();
    socket.send('much too late', count);
    expect([wire.frames, written]).toEqual([[], 2]);
  });
});
