import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { connectionsIn, connectionsTo } from './connections.js';

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 20 4 30 10 -1
   2: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0 20 4 30 10 -1
   3: 0100007F:1F90 0100007F:C351 06 00000000:00000000 00:00000000 00000000     0        0 0 3 0
`;

it('connections are counted once, as the listener sees them', () => {
  expect(connectionsIn(TABLE, [8_080])).toBe(1);
  expect(connectionsIn(TABLE, [8_081])).toBe(0);
});

it('the kernel lists them', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(connectionsTo([port])).toBe(0);
  const socket = connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  expect(connectionsTo([port])).toBe(1);
  socket.destroy();
  server.close();
});
