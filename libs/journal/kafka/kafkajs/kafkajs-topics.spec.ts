import { Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { KafkajsTopics } from './kafkajs-topics.js';

it('reports in one line why no broker can be used, also if OpenSSL uses two', async () => {
  const socketFactory = (): Socket => {
    const socket = new Socket();
    setImmediate(() =>
      socket.destroy(new Error('406DCC86EF7F0000:error:ssl/tls alert\nSSL alert number 42\n')),
    );
    return socket;
  };
  const topics = new KafkajsTopics(
    { brokers: ['broker:9092'], clientId: 'test', socketFactory },
    { prefix: 'journal.', family: 'auction' },
    new SystemClock(),
  );
  await expect(topics.clusterId()).rejects.toMatchObject({
    exitCode: 69,
    message: 'Kafka at broker:9092 cannot be used: 406DCC86EF7F0000:error:ssl/tls alert SSL alert number 42',
  });
});
