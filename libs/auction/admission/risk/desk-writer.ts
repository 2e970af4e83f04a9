import { pause, type Clock } from '#libs/platform/time/clock.js';
import { isConnectionFailure, isSerializationFailure } from '#libs/platform/database/postgres.js';
import { isCodedError } from '#libs/platform/process/start-fault.js';
import { ReservationFault } from '../reservation-desk.js';
import type { ClaimLine, ClaimOfEpoch } from './claim.js';
import { DeskSession, type OpenedSession, type DeskOpening, type ReservedLine } from './desk-session.js';
import { HotAccounts } from './hot-accounts.js';
import type { AccountKey } from './resource-key.js';
import type { ReservedState } from './reserved-rows.js';

const MAX_ATTEMPTS = 12;
const MAX_CLAIMS = 4;
const BOUND_NANOS = 1_000_000_000n;
const MAX_PAUSE_MS = 32;
const GOODBYE_MS = 1_000;
const COOL_NANOS = 5_000_000_000n;
const LOCK_NOT_AVAILABLE = '55P03';
const SQL_STATE = /^[0-9A-Z]{5}$/;

export interface DeskWriterSettings {
  readonly url: string;
  readonly shard: number;
  /** The owner's epoch in the journal. A writer with an older epoch can change nothing. */
  readonly epoch: number;
  readonly clock: Clock;
  /** Between 0 and 1. Spreads the retries. */
  readonly random: () => number;
  /** Opens a session, on the server of `url` by default. */
  readonly openSession?: () => Promise<OpenedSession>;
}

export interface ReservationWork {
  /** Accounts whose rows may be written. */
  readonly accounts: ReadonlySet<string>;
  readonly keys: readonly AccountKey[];
  /** Accounts whose freezes the decision needs. */
  readonly quoting: readonly string[];
  /** Called in every attempt, before the transaction has its snapshot. The returned function gets the snapshot. */
  readonly prepare: () => (standing: ReservedState) => readonly ReservedLine[];
}

/** Writes one piece of work after another into the table, or fails with the reason. Never two at a time. */
export class DeskWriter {
  commits = 0;
  aborts = 0;
  private session: OpenedSession | undefined;
  /** The process id of the session that was given up last. */
  private former: number | undefined;
  private fenced = false;
  private closed = false;
  private readonly hot = new HotAccounts(COOL_NANOS);

  constructor(private readonly settings: DeskWriterSettings) {}

  /** Whether this writer can never write again. */
  get over(): boolean {
    return this.fenced || this.closed;
  }

  async raiseFence(): Promise<void> {
    await this.atStart(async (session) => {
      if (!(await session.raiseFence(this.settings.epoch))) throw this.fence();
    });
  }

  /**
   * The lines that were granted and written. Undefined if that is unknown: then all may be written or none, and
   * `transact` finds the cause.
   */
  async claim(
    accounts: ReadonlySet<string>,
    claim: Omit<ClaimOfEpoch, 'epoch'>,
  ): Promise<readonly ClaimLine[] | undefined> {
    const { clock, random, epoch } = this.settings;
    for (let attempt = 1; attempt <= MAX_CLAIMS; attempt += 1) {
      let session: OpenedSession;
      try {
        session = await this.connected();
      } catch {
        return undefined;
      }
      const contested = this.hot.among(accounts, clock.monotonicNanos());
      try {
        const written = await session.claim(contested, { ...claim, epoch });
        this.commits += 1;
        return written;
      } catch (error) {
        if (!isConflict(error)) {
          this.discard(session);
          return undefined;
        }
        this.conflict(accounts, error);
      }
      await pause(clock, Math.ceil(random() * 2 ** attempt));
    }
    return undefined;
  }

  async transact(work: ReservationWork): Promise<void> {
    const { clock, random } = this.settings;
    const deadline = clock.monotonicNanos() + BOUND_NANOS;
    for (let attempt = 1; ; attempt += 1) {
      const fault = await this.attempt(work);
      if (fault === undefined) return;
      const again = fault.kind === 'CONTENDED' || (fault.kind === 'UNAVAILABLE' && attempt === 1);
      if (!again || attempt >= MAX_ATTEMPTS || clock.monotonicNanos() > deadline) throw fault;
      await pause(clock, Math.ceil(random() * Math.min(2 ** attempt, MAX_PAUSE_MS)));
    }
  }

  /**
   * What the table holds for this shard, in one serializable transaction with the fence: a reservation of an older
   * epoch is either included or can no longer be committed.
   */
  keysHeld(): Promise<AccountKey[]> {
    return this.atStart(async (session) => {
      await this.open(session, [], { keys: [], quoting: [] });
      const keys = await session.keysHeld();
      await session.commit([], false, false);
      return keys;
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    const { session } = this;
    this.session = undefined;
    if (session === undefined) return;
    // A server that hangs never confirms the end.
    const cancel = this.settings.clock.after(GOODBYE_MS, () => {
      session.destroy();
    });
    await session.end();
    cancel();
  }

  /** Work of recovery, with retries: no other process can do it, and only time is lost. */
  private async atStart<T>(work: (session: OpenedSession) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const session = await this.connected();
      try {
        return await work(session);
      } catch (error) {
        this.discard(session);
        if (!isConflict(error) || attempt >= MAX_ATTEMPTS) throw error;
        await pause(this.settings.clock, Math.ceil(this.settings.random() * MAX_PAUSE_MS));
      }
    }
  }

  private async attempt(work: ReservationWork): Promise<ReservationFault | undefined> {
    let session: OpenedSession;
    try {
      session = await this.connected();
    } catch (error) {
      if (error instanceof ReservationFault) return error;
      return new ReservationFault('UNAVAILABLE', 'the reservation database cannot be reached', {
        cause: error,
      });
    }
    const contested = this.hot.among(work.accounts, this.settings.clock.monotonicNanos());
    let lines: readonly ReservedLine[];
    let standing: ReservedState;
    try {
      const decide = work.prepare();
      ({ standing } = await this.open(session, contested, work));
      lines = decide(standing);
      if (lines.length === 0) {
        await session.rollback(contested.length > 0);
        return undefined;
      }
    } catch (error) {
      return await this.failedBeforeCommit(session, error, work, contested.length > 0);
    }
    return this.commit(session, work, lines, contested.length > 0, standing);
  }

  private async open(
    session: OpenedSession,
    contested: readonly string[],
    work: Pick<ReservationWork, 'keys' | 'quoting'>,
  ): Promise<DeskOpening> {
    const opening = await session.begin(contested, work.keys, work.quoting);
    if (opening.epoch !== this.settings.epoch) throw this.fence();
    return opening;
  }

  private async commit(
    session: OpenedSession,
    work: ReservationWork,
    lines: readonly ReservedLine[],
    contested: boolean,
    standing: ReservedState,
  ): Promise<ReservationFault | undefined> {
    try {
      await session.commit(
        lines,
        contested,
        lines.some((line) => standing.lacksRoom(line.key)),
      );
      this.commits += 1;
      return undefined;
    } catch (error) {
      if (isConflict(error)) return this.conflict(work.accounts, error);
      this.discard(session);
      const kind = isRefusedByServer(error) ? 'UNAVAILABLE' : 'UNKNOWN';
      return new ReservationFault(kind, 'the reservation could not be confirmed', { cause: error });
    }
  }

  /** Nothing was written yet, so nothing is in doubt. Errors of the decision itself are thrown unchanged. */
  private async failedBeforeCommit(
    session: OpenedSession,
    error: unknown,
    work: ReservationWork,
    contested: boolean,
  ): Promise<ReservationFault> {
    if (isConflict(error)) {
      await session.rollback(contested).catch(() => {
        this.discard(session);
      });
      return this.conflict(work.accounts, error);
    }
    this.discard(session);
    if (error instanceof ReservationFault) return error;
    if (!isCodedError(error) && !isConnectionFailure(error) && !isAnswerTimeout(error)) throw error;
    return new ReservationFault('UNAVAILABLE', 'the evidence could not be read', { cause: error });
  }

  private conflict(accounts: ReadonlySet<string>, error: unknown): ReservationFault {
    this.aborts += 1;
    this.hot.mark(accounts, this.settings.clock.monotonicNanos());
    return new ReservationFault('CONTENDED', 'other shards kept changing the same accounts', {
      cause: error,
    });
  }

  private fence(): ReservationFault {
    this.fenced = true;
    return new ReservationFault('FENCED', `shard ${this.settings.shard} has a younger owner`);
  }

  private async connected(): Promise<OpenedSession> {
    if (this.fenced) throw this.fence();
    if (this.closed) throw new ReservationFault('UNAVAILABLE', 'the reservations are closed');
    const { url, shard, openSession = () => DeskSession.open(url, shard) } = this.settings;
    if (this.session !== undefined) return this.session;
    const session = await openSession();
    try {
      if (this.former !== undefined && !(await session.outlives(this.former)))
        throw new ReservationFault('UNAVAILABLE', 'the former session has not ended yet');
    } catch (error) {
      session.destroy();
      throw error;
    }
    this.former = undefined;
    this.session = session;
    return session;
  }

  private discard(session: OpenedSession): void {
    session.destroy();
    this.former = session.pid;
    if (this.session === session) this.session = undefined;
  }
}

function isConflict(error: unknown): boolean {
  return isSerializationFailure(error) || (isCodedError(error) && error.code === LOCK_NOT_AVAILABLE);
}

/** The server itself refused, so nothing was committed. */
function isRefusedByServer(error: unknown): boolean {
  return isCodedError(error) && SQL_STATE.test(error.code) && !isConnectionFailure(error);
}

/** The client library has no code for this error. */
function isAnswerTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}
