import { expect, it } from '@jest/globals';
import { countSockets, JournaledCell } from '#libs/testing/execution/journaled-cell.js';
import { SocketGateway } from '#libs/testing/execution/socket-gateway.js';
import { eventually } from '#libs/testing/eventually.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';

it('a user may have ten sockets at two gateways together, and ten at each while the cell is away', async () => {
  const reader = new MemoryJournalStore('execution');
  const cell = new JournaledCell(await new MemoryJournal(reader).open(0));
  const sockets = countSockets(cell);
  const cellUrl = await cell.start();
  const gateways = [new SocketGateway({ cellUrl, reader }), new SocketGateway({ cellUrl, reader })] as const;
  const [here, there] = gateways;
  for (const gateway of gateways) await gateway.start();
  const first = await here.connect('ada');
  for (let socket = 1; socket < 10; socket += 1) await (socket < 6 ? here : there).connect('ada');
  for (const gateway of gateways) await expect(gateway.connect('ada')).rejects.toMatchObject({ status: 429 });
  await there.connect('bob');
  first.kill();
  await eventually(() => expect(sockets.counted.countOf('ada')).toBe(9));
  await there.connect('ada');
  sockets.isAway = true;
  for (let socket = 5; socket < 10; socket += 1) await there.connect('ada');
  await expect(there.connect('ada')).rejects.toMatchObject({ status: 429 });
  sockets.isAway = false;
  await eventually(() => expect(sockets.counted.countOf('ada')).toBe(15));
  for (const gateway of gateways) await gateway.stop();
  cell.stop();
}, 20_000);
