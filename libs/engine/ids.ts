import { createHmac } from 'node:crypto';
import { shardOfCreate } from '#libs/owner-link/routing.js';

const HEX = 16;
/** UUID version 8: the content is ours. Its first digit is the owner's shard. */
const VERSION = '8';
const VARIANT_DIGITS = '89ab';
const ALIAS_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const ALIAS_LENGTH = 8;

/**
 * Ids are derived, never drawn: a repeat finds the same id even when every index is lost, and a journal replayed anywhere
 * names the same things. Without the key nobody can tell from an id who or what is behind it.
 */
export class IdFactory {
  constructor(private readonly key: Buffer) {}

  auction(account: string, idempotencyKey: string): string {
    return this.uuid(shardOfCreate(account, idempotencyKey), 'auction', account, idempotencyKey);
  }

  quote(auctionId: string, maker: string, idempotencyKey: string): string {
    return this.uuid(Number(auctionId[0]), 'quote', auctionId, maker, idempotencyKey);
  }

  award(quoteId: string): string {
    return this.uuid(Number(quoteId[0]), 'award', quoteId);
  }

  /** The name that a party bears in one auction and nowhere else. */
  alias(auctionId: string, account: string, prefix: string): string {
    const digest = this.digest('alias', auctionId, account);
    let name = '';
    for (const byte of digest.subarray(0, ALIAS_LENGTH))
      name += ALIAS_ALPHABET.charAt(byte % ALIAS_ALPHABET.length);
    return `${prefix}-${name}`;
  }

  private uuid(shard: number, ...parts: string[]): string {
    const hex = this.digest(...parts).toString('hex');
    const variant = VARIANT_DIGITS.charAt(Number.parseInt(hex.charAt(16), HEX) % VARIANT_DIGITS.length);
    return `${shard}${hex.slice(1, 8)}-${hex.slice(8, 12)}-${VERSION}${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }

  private digest(...parts: string[]): Buffer {
    const hmac = createHmac('sha256', this.key);
    for (const part of parts) hmac.update(`${part.length}:`).update(part);
    return hmac.digest();
  }
}
