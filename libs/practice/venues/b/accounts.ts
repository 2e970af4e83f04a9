import { constants, createPublicKey, generateKeyPair, verify, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { PracticeVenuePort, VenueReads } from '../../venue/venue-reads.js';
import type { VenueRequest } from '../venue-shell.js';

/** The venue keeps an account's money in two shards. Each market belongs to one of them. */
export const SHARDS = [0, 1] as const;
export type CollateralShard = (typeof SHARDS)[number];

const newKeyPair = promisify(generateKeyPair);
const KEY_BITS = 2_048;
const CLOCK_SLACK_MS = 30_000;

/** The engine's account for one shard. */
export function engineAccount(account: string, shard: number): string {
  return `${account}/${shard}`;
}

/** By its name or by one of its keys. A client with a key may know no other name. */
export function accountNamed(reads: VenueReads, name: string): string | undefined {
  return reads.hasAccount(name) ? name : reads.accountWithKey(name);
}

/** The venue's accounts and their keys. */
export class BAccounts {
  private readonly keys = new Map<string, KeyObject>();

  constructor(private readonly venue: PracticeVenuePort) {}

  /**
   * The account that signed the request, with RSA-PSS over time, method and path without the query. Undefined if none
   * did.
   */
  signer({ method, path, headers }: VenueRequest): string | undefined {
    const keyId = headers['kalshi-access-key'];
    const timestamp = headers['kalshi-access-timestamp'];
    const signature = headers['kalshi-access-signature'];
    if (typeof keyId !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string')
      return undefined;
    const account = this.venue.reads.accountWithKey(keyId);
    const key = account === undefined ? undefined : this.keyOf(account, keyId);
    if (account === undefined || key === undefined) return undefined;
    if (!/^\d{13}$/.test(timestamp) || Math.abs(this.venue.now() - Number(timestamp)) > CLOCK_SLACK_MS)
      return undefined;
    const signed = Buffer.from(`${timestamp}${method}${path}`);
    return verify('sha256', signed, key, Buffer.from(signature, 'base64')) ? account : undefined;
  }

  async open(account = `acct-${this.venue.newId()}`): Promise<Readonly<Record<string, string>>> {
    const { publicKey, privateKey } = await newKeyPair('rsa', {
      modulusLength: KEY_BITS,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const keyId = this.venue.newId();
    await this.venue.ask({ do: 'open', account, keys: { [keyId]: publicKey } });
    return { account, key_id: keyId, private_key_pem: privateKey };
  }

  private keyOf(
    account: string,
    keyId: string,
  ): { readonly key: KeyObject; readonly padding: number; readonly saltLength: number } | undefined {
    const pem = this.venue.reads.keysOf(account)[keyId];
    if (pem === undefined) return undefined;
    const key = this.keys.get(keyId) ?? createPublicKey(pem);
    this.keys.set(keyId, key);
    const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants;
    return { key, padding, saltLength };
  }
}
