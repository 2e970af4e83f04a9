import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it, jest } from '@jest/globals';
import { JournalUnreadable } from '#libs/journal/journal-errors.js';
import { kafkaAddress } from '#libs/journal/kafka/kafka-access.js';
import { KafkaJournal } from '#libs/journal/kafka/kafka-journal.js';
import { KafkaJournalReader } from '#libs/journal/kafka/kafka-reader.js';
import { kafkaSettings } from '#libs/journal/kafka/kafka-settings.js';
import { KafkajsTopics } from '#libs/journal/kafka/kafkajs/kafkajs-topics.js';
import { loadConfig } from '#libs/platform/settings/config.js';
import type { BrokerPlace } from '#libs/platform/embedded-kafka/server-properties.js';
import { kafkaJars } from '#libs/platform/embedded-kafka/jars.js';
import { pickPorts } from '#libs/platform/supervision/ports.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { events } from '#libs/testing/contracts/journal-subject.js';
import { describeWithKafka, jarPlaces, type TestKafka } from '#libs/testing/kafka/test-kafka.js';

jest.setTimeout(120_000);

const STORE_PASSWORD = 'keystore-password';
const PASSWORD = 'a password with "quotes"';
const SCRAM_PASSWORD = 'another';
const clock = new SystemClock();
const [securePort = 0] = await pickPorts(1);

/** The broker has a second listener that requires TLS and a password. */
function secured({ folder, host, port, controllerPort }: BrokerPlace): Record<string, string> {
  const store = path.join(folder, 'broker.p12');
  makeCertificate(store, path.join(folder, 'ca.pem'));
  const login = 'org.apache.kafka.common.security';
  const user = `user_sotto="${PASSWORD.replaceAll('"', '\\"')}"`;
  return {
    listeners: `PLAINTEXT://${host}:${port},CONTROLLER://${host}:${controllerPort},SECURE://${host}:${securePort}`,
    'advertised.listeners': `PLAINTEXT://${host}:${port},SECURE://${host}:${securePort}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL',
    'ssl.keystore.location': store,
    'ssl.keystore.password': STORE_PASSWORD,
    'listener.name.secure.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-512',
    'listener.name.secure.plain.sasl.jaas.config': `${login}.plain.PlainLoginModule required ${user};`,
    'listener.name.secure.scram-sha-512.sasl.jaas.config': `${login}.scram.ScramLoginModule required;`,
  };
}

function makeCertificate(store: string, certificate: string): void {
  mkdirSync(path.dirname(store), { recursive: true });
  const of = ['-alias', 'broker', '-keystore', store, '-storepass', STORE_PASSWORD];
  const names = ['-dname', 'CN=broker', '-ext', 'SAN=dns:localhost,ip:127.0.0.1'];
  const kind = ['-keyalg', 'RSA', '-keysize', '2048', '-storetype', 'PKCS12', '-validity', '3650'];
  execFileSync('keytool', ['-genkeypair', ...of, ...names, ...kind], { stdio: 'ignore' });
  execFileSync('keytool', ['-exportcert', '-rfc', ...of, '-file', certificate], { stdio: 'ignore' });
}

describeWithKafka('brokers that require TLS and a password', { settings: secured }, (kafka) => {
  const env = (more: Readonly<Record<string, string>>): Record<string, string> => ({
    KAFKA_BROKERS: `127.0.0.1:${securePort}`,
    KAFKA_SSL: 'true',
    KAFKA_SSL_CA: path.join(kafka().own!.brokers[0]!.place.folder, 'ca.pem'),
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: 'sotto',
    KAFKA_SASL_PASSWORD: PASSWORD,
    ...more,
  });
  const topicsOf = async (more: Readonly<Record<string, string>>): Promise<KafkajsTopics> => {
    const address = await kafkaAddress(loadConfig(kafkaSettings, env(more)), 'test');
    return new KafkajsTopics(address!, { prefix: kafka().prefix, family: 'auction' }, clock);
  };
  const open = async (shard: number, more: Readonly<Record<string, string>> = {}): Promise<void> => {
    const topics = await topicsOf(more);
    const journal = new KafkaJournal({
      family: 'auction',
      openLog: (wanted) => topics.prepare(wanted),
      clock,
      opener: 'test',
    });
    const writer = await journal.open(shard);
    await writer.append(['"secret"']);
    await writer.close();
    const reader = new KafkaJournalReader({
      family: 'auction',
      openLog: (wanted) => topics.open(wanted),
      shards: [],
    });
    expect(await events(reader, shard)).toEqual(['"secret"']);
    await reader.close();
  };

  it('are written to and read from with both', async () => {
    await open(1);
  });

  it('accept a mechanism that never sends the password', async () => {
    await addScramUser(kafka());
    await open(2, {
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: 'scram',
      KAFKA_SASL_PASSWORD: SCRAM_PASSWORD,
    });
  });

  it.each([
    ['the wrong password', { KAFKA_SASL_PASSWORD: 'wrong' }, /authentication failed/i],
    ['an unknown authority', { KAFKA_SSL_CA: '' }, /self.signed certificate/],
    ['no TLS', { KAFKA_SSL: 'false', KAFKA_SSL_CA: '' }, /./],
  ])('refuse %s, with one line for the operator', async (_, more, reason) => {
    await expect(open(3, more)).rejects.toBeInstanceOf(StartFault);
    await expect(open(3, more)).rejects.toThrow(reason);
    const topics = await topicsOf(more);
    const reader = new KafkaJournalReader({
      family: 'auction',
      openLog: (shard) => topics.open(shard),
      shards: [1],
    });
    await expect(reader.heads()).rejects.toBeInstanceOf(JournalUnreadable);
    await reader.close();
  });
});

async function addScramUser({ addresses }: TestKafka): Promise<void> {
  const jars = await kafkaJars(jarPlaces);
  const user = ['--entity-type', 'users', '--entity-name', 'scram'];
  const credentials = ['--alter', '--add-config', `SCRAM-SHA-512=[password=${SCRAM_PASSWORD}]`];
  const command = [
    'kafka.admin.ConfigCommand',
    '--bootstrap-server',
    addresses.join(','),
    ...credentials,
    ...user,
  ];
  execFileSync('java', ['-cp', path.join(jars, '*'), ...command], { stdio: 'ignore' });
}
