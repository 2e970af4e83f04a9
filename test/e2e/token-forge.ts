import { createPrivateKey, createDecipheriv, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import jwt from 'jsonwebtoken';
import type { RunningCluster } from '#libs/testing/cluster/running-cluster.js';
import type { ServiceRecords } from './books.js';

type Fields = Readonly<Record<string, unknown>>;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Signs any claims with the service's own key from the cluster's secrets. A wrong signature alone would prove
 * little: every claim must be checked after a right one too.
 */
export class TokenForge {
  private constructor(
    readonly kid: string,
    readonly privateKey: KeyObject,
  ) {}

  static async open(cluster: RunningCluster, books: ServiceRecords): Promise<TokenForge> {
    const secrets = JSON.parse(readFileSync(path.join(cluster.dataDir, 'secrets.json'), 'utf8')) as {
      session_kek: string;
    };
    const [row] = await books.rows<{ kid: string; sealed: Buffer }>(
      'select kid, sealed_private_key as sealed from identity.signing_keys order by active_from limit 1',
    );
    if (row === undefined) throw new Error('there is no signing key');
    return new TokenForge(row.kid, unsealed(row.sealed, row.kid, Buffer.from(secrets.session_kek, 'hex')));
  }

  sign(claims: Fields, header: Fields = {}, key: KeyObject = this.privateKey): string {
    return jwt.sign(JSON.stringify(claims), key, {
      algorithm: 'RS256',
      header: { alg: 'RS256', typ: 'JWT', kid: this.kid, ...header },
    });
  }
}

function unsealed(sealed: Buffer, kid: string, key: Buffer): KeyObject {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(kid));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const body = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
  return createPrivateKey({
    key: Buffer.concat([decipher.update(body), decipher.final()]),
    format: 'der',
    type: 'pkcs8',
  });
}
