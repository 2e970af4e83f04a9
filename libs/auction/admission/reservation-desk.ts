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
  /** The hold of the same quote that this one replaces; empty for a first quote and for a create. */
  readonly current: readonly Hold[];
  /** Refused while the account's own protection keeps it away; asked of the database within the same snapshot. */
  readonly forQuote?: true;
}

export type ReserveOutcome = Reservation | EvidenceInvalid;

export interface Release {
  readonly account: string;
  readonly hold: readonly Hold[];
}

/**
 * - `UNKNOWN`: the answer was lost; what was set aside may or may not stand, and the next write of the same rows mends it.
 * - `UNAVAILABLE`: nothing was set aside, the database could not be asked.
 * - `CONTENDED`: nothing was set aside, other shards kept winning until the bound was reached.
 * - `FENCED`: a younger owner has this shard; this process must stop.
 */
export type ReservationFaultKind = 'UNKNOWN' | 'UNAVAILABLE' | 'CONTENDED' | 'FENCED';

/** Fails a whole batch closed. */
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
  /** Keys (account, venue, resource, asset) of which this shard holds something. */
  readonly keys: number;
  /** Keys whose row in the database is not known to say what memory does. */
  readonly unwritten: number;
  /** For how long that has been so of the one that has waited longest; 0 where there is none. */
  readonly unwrittenSeconds: number;
  readonly reserved: number;
  readonly refused: number;
  readonly commits: number;
  readonly aborts: number;
  readonly faults: number;
}

/** Sets aside what quotes and auctions of one shard may come to cost. Only the owner of the shard has one. */
export interface ReservationDesk {
  /**
   * One SERIALIZABLE transaction for all that is asked while the last one was under way. A granted request holds, of each
   * resource, the larger of `current` and the new hold. Which of the two stands is the owner's to know: it releases what the
   * new hold no longer needs once the command is journaled, or what it added if it never was.
   * Rejects with a ReservationFault; an outcome of status 500 is an account whose evidence cannot be right.
   */
  reserve(requests: readonly ReserveRequest[]): Promise<readonly ReserveOutcome[]>;
  /**
   * Holds that ended. They count in memory at once and are written soon; a failed write is tried again until it succeeds.
   * Resolves when they are written, or when this desk may no longer write; never rejects.
   */
  release(changes: readonly Release[]): Promise<void>;
  /** Recovery, before the first reserve: makes the table say of this shard what its journal says. */
  reconcile(holds: ReadonlyMap<string, readonly Hold[]>): Promise<void>;
  totals(): DeskTotals;
  close(): Promise<void>;
}

export interface PreflightDesk {
  /**
   * What the account could carry at this moment; `current` is what its standing quote holds and a revision of it could use.
   * Sets nothing aside. What it tells is a multiple of `step`, so that all of it can be asked for. Rejects with EvidenceInvalid where the evidence cannot be right, and with the cause where the
   * evidence cannot be read.
   */
  preflight(request: ReserveRequest, step: Atoms): Promise<PreflightVerdict | Rejection>;
}
