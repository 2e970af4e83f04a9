import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ConfigFault } from '#libs/platform/process/start-fault.js';
import { messageOf } from '../journal-errors.js';

const CERTIFICATE =
  /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^]*?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

export interface ShownCertificate {
  readonly setting: string;
  /** The first one belongs to the key. */
  readonly certificate: string;
}

/**
 * The text of a file with at least one certificate. TLS itself skips what it cannot read, and the brokers' certificate would then
 * seem to be the wrong one.
 */
export async function certificates(setting: string, file: string): Promise<string> {
  const text = await textOf(setting, file);
  const found = text.match(CERTIFICATE) ?? [];
  if (found.length === 0) throw wrong(setting, file, 'it holds no certificate in PEM');
  for (const [index, one] of found.entries()) {
    parsed(
      () => new X509Certificate(one),
      (reason) => wrong(setting, file, `certificate ${index + 1} in it cannot be read (${reason})`),
    );
  }
  return text;
}

/** The text of a file with the private key of our certificate. */
export async function privateKey(setting: string, file: string, shown?: ShownCertificate): Promise<string> {
  const text = await textOf(setting, file);
  const key = parsed(
    (): KeyObject => createPrivateKey(text),
    (reason) => wrong(setting, file, `it holds no private key in PEM that can be read (${reason})`),
  );
  if (shown !== undefined && !new X509Certificate(shown.certificate).checkPrivateKey(key)) {
    throw wrong(setting, file, `it is not the key of ${shown.setting}`);
  }
  return text;
}

async function textOf(setting: string, file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw wrong(setting, file, `it cannot be read (${messageOf(error)})`);
  });
}

function parsed<T>(parse: () => T, fault: (reason: string) => ConfigFault): T {
  try {
    return parse();
  } catch (error) {
    throw fault(messageOf(error));
  }
}

function wrong(setting: string, file: string, why: string): ConfigFault {
  return new ConfigFault([`${setting}=${JSON.stringify(file)} is wrong: ${why}`]);
}
