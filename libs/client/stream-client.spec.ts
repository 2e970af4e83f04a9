import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { WebSocketServer, type WebSocket } from 'ws';
import { StreamClient } from './stream-client.js';

let server: WebSocketServer;
let url: string;
let onMessage: (socket: WebSocket, message: { readonly type: string; readonly cmd_id: string }) => void;

beforeEach(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) => {
    socket.on('message', (text: Buffer) => onMessage(socket, JSON.parse(text.toString()) as never));
  });
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onMessage = (socket, { cmd_id }) => socket.send(JSON.stringify({ type: 'pong', cmd_id }));
});
afterEach(() => {
  for (const socket of server.clients) socket.terminate();
  server.close();
});

it('resolves each request with the reply of its id, also if an id is used again', async () => {
  let count = 0;
  onMessage = (socket, { cmd_id }) => {
    count += 1;
    socket.send(JSON.stringify({ type: 'reject', cmd_id, status: count, error: 'no' }));
  };
  const client = await StreamClient.open(url, { token: 'secret' });
  expect(await client.ask('ping', {}, 'same')).toMatchObject({ cmd_id: 'same', status: 1 });
  expect(await client.ask('ping', {}, 'same')).toMatchObject({ cmd_id: 'same', status: 2 });
  expect(client.frames).toHaveLength(2);
  client.kill();
});

it('rejects every waiting caller when the stream ends', async () => {
  onMessage = (socket) => socket.close(4409, 'draining');
  const client = await StreamClient.open(url);
  const reply = client.ask('ping');
  const waiting = client.untilType('goaway');
  await expect(reply).rejects.toThrow('closed 4409 draining');
  await expect(waiting).rejects.toThrow('the stream ended');
  expect(await client.untilClosed()).toEqual({ code: 4409, reason: 'draining' });
});

it('stores no frames if it is told to discard them, and still resolves replies and calls onFrame', async () => {
  const client = await StreamClient.open(url, { keepsNothing: true });
  const types: string[] = [];
  client.onFrame = ({ type }) => types.push(type);
  await client.ask('ping');
  expect([types, client.frames, client.texts]).toEqual([['pong'], [], []]);
  client.kill();
});
