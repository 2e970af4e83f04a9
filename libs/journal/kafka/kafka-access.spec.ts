import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSecureContext } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfig } from '#libs/platform/settings/config.js';
import { ConfigFault, EXIT } from '#libs/platform/process/start-fault.js';
import { kafkaAddress } from './kafka-access.js';
import { kafkaSettings } from './kafka-settings.js';
import type { KafkaAddress } from './kafkajs/kafka-address.js';

const [SEQUENCE, INTEGER, BITS, UTC_TIME] = [0x30, 0x02, 0x03, 0x17];
const ED25519 = der(SEQUENCE, Buffer.from('06032b6570', 'hex'));

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  return Buffer.concat([Buffer.from(length < 128 ? [tag, length] : [tag, 0x81, length]), content]);
}

/** The smallest certificate: empty subject, empty issuer, valid until 2049. */
function certificateOf(publicKey: KeyObject, key: KeyObject): string {
  const emptyName = der(SEQUENCE);
  const times = ['200101000000Z', '490101000000Z'].map((time) => der(UTC_TIME, Buffer.from(time)));
  const content = der(
    SEQUENCE,
    der(INTEGER, Buffer.from([1])),
    ED25519,
    emptyName,
    der(SEQUENCE, ...times),
    emptyName,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = der(BITS, Buffer.from([0]), sign(null, content, key));
  return pem('CERTIFICATE', der(SEQUENCE, content, ED25519, signature));
}

function pem(what: string, content: Buffer): string {
  return `-----BEGIN ${what}-----\n${content.toString('base64')}\n-----END ${what}-----\n`;
}

describe('the files of TLS to the brokers', () => {
  let folder: string;
  let certificate: string;
  let key: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sotto-pem-'));
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    certificate = certificateOf(publicKey, privateKey);
    key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const addressWith = (files: Readonly<Record<string, string>>): Promise<KafkaAddress | undefined> => {
    const env: Record<string, string> = { KAFKA_BROKERS: 'a:1', KAFKA_SSL: 'true' };
    for (const [setting, text] of Object.entries(files)) {
      env[setting] = path.join(folder, setting);
      writeFileSync(env[setting], text);
    }
    return kafkaAddress(loadConfig(kafkaSettings, env), 'test');
  };
  const refused = async (setting: string, why: RegExp, files: Readonly<Record<string, string>>) => {
    const error: unknown = await addressWith(files).catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(ConfigFault);
    expect(error).toMatchObject({ exitCode: EXIT.config });
    const [line = '', ...others] = (error as ConfigFault).faults;
    expect([
      line.startsWith(`${setting}=${JSON.stringify(path.join(folder, setting))} is wrong: `),
      others,
    ]).toEqual([true, []]);
    expect(line).toMatch(why);
  };

  it('are passed to TLS unchanged, with all their certificates', async () => {
    const ca = `an authority\n${certificate}and another\n${certificate}`;
    const address = await addressWith({ KAFKA_SSL_CA: ca, KAFKA_SSL_CERT: certificate, KAFKA_SSL_KEY: key });
    expect(address?.ssl).toEqual({ ca, cert: certificate, key });
    expect(() => createSecureContext(address?.ssl)).not.toThrow();
  });

  it.each([
    ['nothing', ''],
    ['garbage', '\u0000\u0001 garbage'],
  ])('are refused at the start if they hold %s', async (_, text) => {
    await refused('KAFKA_SSL_CA', /it holds no certificate in PEM$/, { KAFKA_SSL_CA: text });
    await refused('KAFKA_SSL_CERT', /it holds no certificate in PEM$/, {
      KAFKA_SSL_CERT: text,
      KAFKA_SSL_KEY: key,
    });
    const files = { KAFKA_SSL_CERT: certificate, KAFKA_SSL_KEY: text };
    await refused('KAFKA_SSL_KEY', /it holds no private key in PEM that can be read \(.+\)$/, files);
  });

  it('are refused if one of several certificates is damaged', async () => {
    const damaged = pem('CERTIFICATE', Buffer.from('damaged'));
    const files = { KAFKA_SSL_CA: `${certificate}${damaged}` };
    await refused('KAFKA_SSL_CA', /certificate 2 in it cannot be read \(.+\)$/, files);
  });

  it('are refused if the key belongs to another certificate', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const another = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const files = { KAFKA_SSL_CERT: certificate, KAFKA_SSL_KEY: another };
    await refused('KAFKA_SSL_KEY', /it is not the key of KAFKA_SSL_CERT$/, files);
  });
});
