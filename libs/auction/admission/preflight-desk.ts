import type { Atoms } from '#libs/base/money.js';
import type { Rejection } from '#libs/base/rejection.js';
import type { ReserveRequest } from './reservation-desk.js';
import type { PreflightVerdict } from './risk/verdict.js';

export interface PreflightDesk {
  /**
   * What the account could carry at this moment; `current` is what its standing quote holds and a revision of it could use.
   * Sets nothing aside. What it tells is a multiple of `step`, so that all of it can be asked for. Rejects with EvidenceInvalid where the evidence cannot be right, and with the cause where the
   * evidence cannot be read.
   */
  preflight(request: ReserveRequest, step: Atoms): Promise<PreflightVerdict | Rejection>;
}
