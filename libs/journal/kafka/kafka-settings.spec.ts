import { describe, expect, it } from '@jest/globals';
import { loadConfig, settingsFaults } from '#libs/platform/settings/config.js';
import { kafkaSettings, kafkaSettingsAgree } from './kafka-settings.js';
import { hostAndPort } from './kafkajs/kafka-address.js';

function faults(env: Readonly<Record<string, string>>): readonly string[] {
  return settingsFaults(kafkaSettings, env, [kafkaSettingsAgree]);
}

const BROKERS = { KAFKA_BROKERS: '127.0.0.1:9092' };
const SASL = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' };

describe('settings of Kafka', () => {
  it('are optional', () => {
    expect(faults({})).toEqual([]);
    expect(loadConfig(kafkaSettings, {}).KAFKA_BROKERS).toBeUndefined();
  });

  it.each([
    ['a broker without a port', { KAFKA_BROKERS: 'a:1,b' }],
    ['an invalid prefix', { KAFKA_TOPIC_PREFIX: 'a b' }],
    ['a certificate without TLS', { KAFKA_SSL_CA: 'ca.pem' }],
    ['an unknown mechanism', { ...SASL, KAFKA_SASL_MECHANISM: 'PLAIN' }],
    ['a password without a mechanism', { KAFKA_SASL_PASSWORD: 'p' }],
    ['empty brokers', { KAFKA_BROKERS: '' }],
    ['empty TLS', { ...BROKERS, KAFKA_SSL: '' }],
    ['TLS without brokers', { KAFKA_SSL: 'true' }],
    ['a password without brokers', { ...SASL, KAFKA_SASL_MECHANISM: 'scram-sha-512' }],
    ['a certificate without its key', { ...BROKERS, KAFKA_SSL: 'true', KAFKA_SSL_CERT: 'cert.pem' }],
    [
      'a mechanism without a password',
      { ...BROKERS, KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u' },
    ],
    ['a password that would be readable on the way', { ...SASL, KAFKA_BROKERS: 'kafka.example:9092' }],
  ])('are refused for %s, in one line', (_, env) => {
    expect(faults(env)).toHaveLength(1);
  });

  it.each([
    ['a:1,b:1,a:1', 'it names a:1 twice'],
    ['a:1,A:1', 'a:1 and A:1 are the same broker'],
    ['a.example:1,a.example.:01', 'a.example:1 and a.example.:01 are the same broker'],
    ['localhost:1,127.0.0.1:1', 'localhost:1 and 127.0.0.1:1 are the same broker'],
    ['127.0.0.1:1,[::ffff:127.0.0.1]:1', '127.0.0.1:1 and [::ffff:127.0.0.1]:1 are the same broker'],
    ['10.1.2.3:1,[0::FFFF:a01:203]:1', '10.1.2.3:1 and [0::FFFF:a01:203]:1 are the same broker'],
    ['[fe80::1]:1,[FE80:0::1]:1', '[fe80::1]:1 and [FE80:0::1]:1 are the same broker'],
    ['a,a', 'it must be host:port for each broker; it must be host:port for each broker'],
  ])('are refused for a repeated broker: %s', (brokers, why) => {
    const value = JSON.stringify(brokers);
    expect(faults({ KAFKA_BROKERS: brokers })).toEqual([`KAFKA_BROKERS=${value} is wrong: ${why}`]);
  });

  it('accept several brokers on one machine, and one port on several', () => {
    expect(
      faults({
        KAFKA_BROKERS:
          'a:1,a:2,b:1,[::1]:3,127.0.0.1:4,[::ffff:10.0.0.1]:4,[::fffe:127.0.0.1]:4,odd_name%1:1',
      }),
    ).toEqual([]);
  });

  it.each([
    [
      'on loopback',
      { ...SASL, KAFKA_BROKERS: '127.0.0.1:9092,localhost:9093,[::1]:9094,[::ffff:127.0.0.1]:9095' },
    ],
    ['over TLS', { ...SASL, KAFKA_SSL: 'true', KAFKA_BROKERS: 'kafka.example:9092' }],
  ])('accept a password %s', (_, env) => {
    expect(faults(env)).toEqual([]);
  });
});

it('require a host and a port in each address', () => {
  expect(hostAndPort('broker-1.example:9092')).toEqual({ host: 'broker-1.example', port: 9092 });
  expect(hostAndPort('[::1]:9092')).toEqual({ host: '::1', port: 9092 });
  for (const wrong of ['', 'a', 'a:', ':1', 'a:0', 'a:70000', '::1:9092', 'http://a:1', 'a:1/x']) {
    expect(hostAndPort(wrong)).toBeUndefined();
  }
});
