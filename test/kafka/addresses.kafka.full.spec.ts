import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { journalAt, topicsAt } from './access.js';

jest.setTimeout(60_000);

describeWithKafka('brokers with IPv6 addresses', { anyBrokers: true }, (kafka) => {
  let relay: Server;

  beforeAll(async () => {
    relay = createServer((client) => {
      const [host = '', port] = kafka().addresses[0]!.split(':');
      const broker = connect(Number(port), host);
      client.pipe(broker).pipe(client);
      for (const [socket, other] of [
        [client, broker],
        [broker, client],
      ] as const) {
        socket.on('error', () => other.destroy()).on('close', () => other.destroy());
      }
    }).listen(0, '::1');
    await once(relay, 'listening');
  });
  afterAll(() => {
    relay.close();
  });

  it('are found, and written to', async () => {
    const address = { brokers: [`[::1]:${(relay.address() as AddressInfo).port}`] };
    expect(await topicsAt(kafka(), address).clusterId()).toBe(await topicsAt(kafka()).clusterId());
    await (await topicsAt(kafka(), address).prepare(1)).close();
    const writer = await journalAt(kafka(), address).open(1);
    await writer.append(['"a"']);
    await writer.close();
  });
});
