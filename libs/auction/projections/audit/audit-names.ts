import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { PseudonymOf } from '../../rules/audit/audit-ranking.js';

/** No digit and letter that look alike. 32 of them, so five bits of a digest give one. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 16;

/**
 * What auditors are told in place of what they may not know, made from one key that all gateways share. Each auction has a key
 * of its own below that one: nothing in one auction can be compared with anything in another, and the key of one can be given
 * to somebody who must see who was who there, without opening the others.
 */
export class AuditNames {
  constructor(private readonly key: Buffer) {}

  /** The same account has the same name throughout the auction and at every gateway. */
  pseudonymsOf(auctionId: string): PseudonymOf {
    const key = this.auctionKey(auctionId);
    return (accountId) => {
      const digest = createHmac('sha256', key).update(`account:${accountId}`).digest();
      const letters = Array.from(digest.subarray(0, LENGTH), (byte) => ALPHABET.charAt(byte & 31));
      return `P-${letters.join('')}`;
    };
  }

  /**
   * A commitment to a record of the journal. The record's own hash must not be shown: who has it, and a list of accounts, finds
   * out by trial which of them makes the rest of the record hash to it. Whoever has the journal and the auction's key can
   * make this again.
   */
  sealsOf(auctionId: string): (recordHash: string) => string {
    const key = this.auctionKey(auctionId);
    return (recordHash) => createHmac('sha256', key).update(`record:${recordHash}`).digest('hex');
  }

  private auctionKey(auctionId: string): KeyObject {
    return createSecretKey(createHmac('sha256', this.key).update(`auction:${auctionId}`).digest());
  }
}
