import { expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { isPortFree, pickPortRange, pickPorts } from './ports.js';

const MANY = 200;

it('pickPortRange picks consecutive ports, and none of them twice', async () => {
  const picked: number[] = [];
  for (let ranges = 0; ranges < 100; ranges += 1) {
    const first = await pickPortRange(4);
    picked.push(first, first + 1, first + 2, first + 3);
  }
  expect(new Set(picked).size).toBe(400);
  for (const port of picked.slice(0, 8)) expect(await isPortFree(port, '127.0.0.1')).toBe(true);
});

it('pickPorts picks different free ports, and none that was picked or excluded before', async () => {
  const [avoided = 0, ...picked] = await pickPorts(MANY);
  expect(new Set([avoided, ...picked]).size).toBe(MANY);
  for (const port of picked.slice(0, 5)) expect(await isPortFree(port, '127.0.0.1')).toBe(true);
  const again = await pickPorts(MANY, [avoided]);
  expect(again.filter((port) => port === avoided || picked.includes(port))).toEqual([]);
});

it('isPortFree is false for a port with a listener', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  expect(await isPortFree(port, '127.0.0.1')).toBe(false);
  server.close();
});
