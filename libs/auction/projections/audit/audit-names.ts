import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { PseudonymOf } from '../../rules/audit/audit-ranking.js';

/** No characters that look alike. There are 32, so five bits of a digest select one. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 16;

/**
 * Pseudonyms and seals for auditors, made from one key that all gateways share. Each auction has its own derived key, so nothing
 * can be compared across auctions, and one auction's key can be disclosed without opening the others.
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
   * A commitment to a record of the journal. The record's own hash must not be shown: with a list of accounts, a reader could
   * find by trial which of them makes the rest of the record match it. With the journal and the auction's key this can be
   * recomputed.
   */
  sealsOf(auctionId: string): (recordHash: string) => string {
    const key = this.auctionKey(auctionId);
    return (recordHash) => createHmac('sha256', key).update(`record:${recordHash}`).digest('hex');
  }

  private auctionKey(auctionId: string): KeyObject {
    return createSecretKey(createHmac('sha256', this.key).update(`auction:${auctionId}`).digest());
  }
}
