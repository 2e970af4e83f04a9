import { expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { OpenSockets } from '../../cell/open-sockets.js';
import { JournaledCell } from '#libs/testing/execution/journaled-cell.js';
import { SocketGateway } from '#libs/testing/execution/socket-gateway.js';
import { eventually } from '#libs/testing/eventually.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';

it('a user has ten sockets at two gateways together, and while the cell is away ten at each', async () => {
  const reader = new MemoryJournalStore('execution');
  const cell = new JournaledCell(await new MemoryJournal(reader).open(0));
  const counted = new OpenSockets(new SystemClock(), 1);
  let isAway = false;
  cell.answer = (request) => {
    if (isAway) return { status: 503, body: '{}' };
    if (request.op === 'presence' && request.sockets) counted.heard(request.gateway, request.sockets);
    const isFull = request.op === 'sockets' && !counted.change(request.gateway, request);
    return { status: isFull ? 429 : 200, body: '{}' };
  };
  const cellUrl = await cell.start();
  const gateways = [new SocketGateway({ cellUrl, reader }), new SocketGateway({ cellUrl, reader })] as const;
  const [here, there] = gateways;
  for (const gateway of gateways) await gateway.start();
  const first = await here.connect('ada');
  for (let socket = 1; socket < 10; socket += 1) await (socket < 6 ? here : there).connect('ada');
  for (const gateway of gateways) await expect(gateway.connect('ada')).rejects.toMatchObject({ status: 429 });
  await there.connect('bob');
  first.kill();
  await eventually(() => expect(counted.countOf('ada')).toBe(9));
  await there.connect('ada');
  isAway = true;
  for (let socket = 5; socket < 10; socket += 1) await there.connect('ada');
  await expect(there.connect('ada')).rejects.toMatchObject({ status: 429 });
  isAway = false;
  await eventually(() => expect(counted.countOf('ada')).toBe(15));
  for (const gateway of gateways) await gateway.stop();
  cell.stop();
}, 20_000);
