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

it('gives each question the reply that repeats its id, also where an id is used again', async () => {
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

it('tells everyone who waits for something that the stream has ended', async () => {
  onMessage = (socket) => socket.close(4409, 'draining');
  const client = await StreamClient.open(url);
  const asking = client.ask('ping');
  const waiting = client.untilType('goaway');
  await expect(asking).rejects.toThrow('closed 4409 draining');
  await expect(waiting).rejects.toThrow('the stream ended');
  expect(await client.untilClosed()).toEqual({ code: 4409, reason: 'draining' });
});

it('keeps nothing where it is told so, and still hears replies and frames', async () => {
  const client = await StreamClient.open(url, { keepsNothing: true });
  const heard: string[] = [];
  client.onFrame = ({ type }) => heard.push(type);
  await client.ask('ping');
  expect([heard, client.frames, client.texts]).toEqual([['pong'], [], []]);
  client.kill();
});
