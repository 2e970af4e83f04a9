import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { shardOfCreate } from '../protocol/routing.js';

const HEX = 16;
/** UUID version 8: the content is ours. Its first digit is the owner's shard. */
const VERSION = '8';
const VARIANT_DIGITS = '89ab';
const ALIAS_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const ALIAS_LENGTH = 8;

/** Digits of an id that name the key from which it was made. */
const KEY_ID_DIGITS = 2;

interface Key {
  /** Derived from the key, so that keys need no names. Too short to reveal anything about it. */
  readonly id: string;
  /** A raw buffer would be converted for every id, which costs several times as much as the id. */
  readonly secret: KeyObject;
}

/**
 * Ids are derived, never random: a repeat gets the same id even if every index is lost, and without the key an id reveals
 * nothing. New auctions use the first key. Everything in an auction uses that auction's key while it is configured, so that a
 * decision repeated after a rotation makes the same ids.
 */
export class IdFactory {
  private readonly keys: readonly [Key, ...Key[]];

  constructor(first: Buffer, ...former: readonly Buffer[]) {
    this.keys = [keyOf(first), ...former.map(keyOf)];
  }

  auction(account: string, idempotencyKey: string): string {
    return auctionUnder(this.keys[0], account, idempotencyKey);
  }

  /** All ids that the auction of this call may have: from the first key, and from each former key. */
  auctions(account: string, idempotencyKey: string): string[] {
    return this.keys.map((key) => auctionUnder(key, account, idempotencyKey));
  }

  /** Whether one of the keys made this auction id. Ids from before they had key digits differ in those digits alone. */
  hasNamed(auctionId: string, account: string, idempotencyKey: string): boolean {
    const rest = auctionId.slice(1 + KEY_ID_DIGITS);
    return this.auctions(account, idempotencyKey).some((id) => id.endsWith(rest));
  }

  quote(auctionId: string, maker: string, idempotencyKey: string): string {
    return uuid(this.keyOfId(auctionId), Number(auctionId[0]), 'quote', auctionId, maker, idempotencyKey);
  }

  award(quoteId: string): string {
    return uuid(this.keyOfId(quoteId), Number(quoteId[0]), 'award', quoteId);
  }

  /** A party's name in one auction. It has a different name in every other auction. */
  alias(auctionId: string, account: string, prefix: string): string {
    const digest = digestOf(this.keyOfId(auctionId), 'alias', auctionId, account);
    let name = '';
    for (const byte of digest.subarray(0, ALIAS_LENGTH))
      name += ALIAS_ALPHABET.charAt(byte % ALIAS_ALPHABET.length);
    return `${prefix}-${name}`;
  }

  /** An id that names no known key was made with the oldest key. */
  private keyOfId(id: string): Key {
    const named = id.slice(1, 1 + KEY_ID_DIGITS);
    return this.keys.find((key) => key.id === named) ?? this.keys.at(-1) ?? this.keys[0];
  }
}

/** Whether the keys can be told apart by the ids that they make. */
export function areDistinct(keys: readonly Buffer[]): boolean {
  return new Set(keys.map((key) => keyOf(key).id)).size === keys.length;
}

function keyOf(secret: Buffer): Key {
  const id = createHash('sha256').update(secret).digest('hex').slice(0, KEY_ID_DIGITS);
  return { id, secret: createSecretKey(secret) };
}

function auctionUnder(key: Key, account: string, idempotencyKey: string): string {
  return uuid(key, shardOfCreate(account, idempotencyKey), 'auction', account, idempotencyKey);
}

function uuid(key: Key, shard: number, ...parts: string[]): string {
  const hex = digestOf(key, ...parts).toString('hex');
  const variant = VARIANT_DIGITS.charAt(Number.parseInt(hex.charAt(16), HEX) % VARIANT_DIGITS.length);
  return `${shard}${key.id}${hex.slice(3, 8)}-${hex.slice(8, 12)}-${VERSION}${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function digestOf({ secret }: Key, ...parts: string[]): Buffer {
  const named = parts.map((part) => `${part.length}:${part}`).join('');
  return createHmac('sha256', secret).update(named).digest();
}
