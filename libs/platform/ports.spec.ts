import { expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { isPortFree, pickPortRange, pickPorts } from './ports.js';

const MANY = 300;

it('picks different free ports, and none that were picked before', async () => {
  const [avoided = 0, ...picked] = await pickPorts(MANY);
  expect(new Set([avoided, ...picked]).size).toBe(MANY);
  for (const port of picked.slice(0, 5)) expect(await isPortFree(port, '127.0.0.1')).toBe(true);
  const again = await pickPorts(MANY, [avoided]);
  expect(again.filter((port) => port === avoided || picked.includes(port))).toEqual([]);
});

it('picks as many in a row as are wanted, and nobody else gets one of them', async () => {
  const first = await pickPortRange(200);
  for (let port = first; port < first + 200; port += 1)
    expect(await isPortFree(port, '127.0.0.1')).toBe(true);
  const others = await pickPorts(MANY);
  expect(others.filter((port) => port >= first && port < first + 200)).toEqual([]);
});

it('sees whoever listens', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  expect(await isPortFree(port, '127.0.0.1')).toBe(false);
  server.close();
});
