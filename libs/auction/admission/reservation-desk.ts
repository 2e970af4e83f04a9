import type { EvidenceInvalid } from './risk/evidence.js';
import type { Reservation } from '../rules/commands.js';
import type { Need } from '../rules/holds.js';
import type { Hold } from '../rules/terms.js';
import type { Atoms } from '#libs/base/money.js';
import type { Rejection } from '#libs/base/rejection.js';
import type { PreflightVerdict } from './risk/verdict.js';

export interface ReserveRequest {
  readonly account: string;
  readonly need: Need;
  /** The hold of the quote that this one replaces. Empty for a first quote and for a create. */
  readonly current: readonly Hold[];
  /** Also refuse while the account's maker protection is in force. Read from the database in the same snapshot. */
  readonly forQuote?: true;
}

export type ReserveOutcome = Reservation | EvidenceInvalid;

export interface Release {
  readonly account: string;
  readonly hold: readonly Hold[];
}

/**
 * UNKNOWN: the answer was lost; the next write of the same rows repairs them. UNAVAILABLE: the database did not
 * answer. CONTENDED: other shards won every retry. FENCED: another owner has the shard; this process must stop.
 */
export type ReservationFaultKind = 'UNKNOWN' | 'UNAVAILABLE' | 'CONTENDED' | 'FENCED';

/** Fails a whole batch. Except for UNKNOWN, nothing was set aside. */
export class ReservationFault extends Error {
  constructor(
    readonly kind: ReservationFaultKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ReservationFault';
  }
}

export interface DeskTotals {
  /** Keys (account, venue, resource, asset) that this shard holds something of. */
  readonly keys: number;
  /** Keys whose database row may differ from memory. */
  readonly unwritten: number;
  /** How long the oldest of those keys has been unwritten; 0 if there is none. */
  readonly unwrittenSeconds: number;
  readonly reserved: number;
  readonly refused: number;
  readonly commits: number;
  readonly aborts: number;
  readonly faults: number;
}

/** Sets aside what quotes and auctions of one shard may cost. Only the owner of the shard has one. */
export interface ReservationDesk {
  /**
   * One SERIALIZABLE transaction for all requests that came during the last one. A granted request holds the larger
   * of `current` and the new hold; the owner releases the rest. Rejects with a ReservationFault. Status 500 means
   * the evidence cannot be right.
   */
  reserve(requests: readonly ReserveRequest[]): Promise<readonly ReserveOutcome[]>;
  /**
   * Releases holds that ended. Memory counts them at once; failed writes are retried. Resolves when they are
   * written or this owner may no longer write. Never rejects.
   */
  release(changes: readonly Release[]): Promise<void>;
  /** Recovery, before the first reserve: makes the table equal to the journal for this shard. */
  reconcile(holds: ReadonlyMap<string, readonly Hold[]>): Promise<void>;
  totals(): DeskTotals;
  close(): Promise<void>;
}

export interface PreflightDesk {
  /**
   * What the account could carry now, as a multiple of `step`. Its active quote's hold (`current`) may be used.
   * Sets nothing aside. Rejects with EvidenceInvalid if the evidence cannot be right, and with the cause if it
   * cannot be read.
   */
  preflight(request: ReserveRequest, step: Atoms): Promise<PreflightVerdict | Rejection>;
}
