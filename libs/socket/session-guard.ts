import { NANOS_PER_MILLI, NANOS_PER_SECOND } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';

export interface SessionHolder {
  readonly account_id: string;
}

/** The holder of a valid token, and when the token expires. */
export interface ClientSession<Holder extends SessionHolder> {
  readonly principal: Holder;
  /** In seconds since 1970. */
  readonly expiresAt: number;
}
/** `forbidden`: the token is valid, but not for this purpose or not from this address. */
export type SessionOutcome<Holder extends SessionHolder> =
  ClientSession<Holder> | 'unauthorized' | 'forbidden' | 'unavailable';

/** Checks whether a token is valid now. Called several times a second, so it answers from memory when it can. */
export type SessionCheck<Holder extends SessionHolder> = () =>
  SessionOutcome<Holder> | Promise<SessionOutcome<Holder>>;

export interface Sessions<Holder extends SessionHolder> {
  /** Verifies once whatever never changes about the token, so that each check is cheap. */
  checkOf(token: string): SessionCheck<Holder>;
}

export type SessionState = 'good' | 'unauthorized' | 'forbidden' | 'unavailable';

/** The session of one connection: whether its token is still valid, when it expires, and its replacement by a newer one. */
export class SessionGuard<Holder extends SessionHolder> {
  private isChecking = false;
  private state: SessionState = 'good';
  private hasWarned = false;
  /** When the present token ends. */
  private validate: SessionCheck<Holder>;
  private endsAt: bigint;

  constructor(
    private readonly sessions: Sessions<Holder>,
    private readonly clock: Clock,
    token: string,
    private session: ClientSession<Holder>,
  ) {
    this.validate = sessions.checkOf(token);
    this.endsAt = endOf(session);
  }

  get principal(): Holder {
    return this.session.principal;
  }

  get expiresAt(): number {
    return this.session.expiresAt;
  }

  /** Returns the last known state without waiting. A check that takes time counts from the next poll on. */
  poll(): SessionState {
    if (!this.isChecking) {
      const state = this.check();
      if (!(state instanceof Promise)) return state;
      this.isChecking = true;
      void state.then(() => {
        this.isChecking = false;
      });
    }
    return this.remainingNanos() <= 0n ? 'unauthorized' : this.state;
  }

  /** For callers that need the state as of now. */
  check(): SessionState | Promise<SessionState> {
    if (this.remainingNanos() <= 0n) return 'unauthorized';
    const { validate } = this;
    const outcome = validate();
    if (!(outcome instanceof Promise)) return this.recordOutcome(validate, outcome);
    // A failed check does not mean that the token is invalid.
    return outcome.catch(() => 'unavailable' as const).then((known) => this.recordOutcome(validate, known));
  }

  /** True once for each token, when its end is near. */
  isEnding(noticeMillis: number): boolean {
    if (this.hasWarned || this.remainingNanos() > BigInt(noticeMillis) * NANOS_PER_MILLI) return false;
    this.hasWarned = true;
    return true;
  }

  /** Replaces the token by a newer one of the same account. A valid token that expires sooner changes nothing. */
  async refresh(
    token: string,
  ): Promise<'refreshed' | 'foreign' | Exclude<SessionOutcome<Holder>, ClientSession<Holder>>> {
    const validate = this.sessions.checkOf(token);
    const outcome = await validate();
    if (typeof outcome === 'string') return outcome;
    if (outcome.principal.account_id !== this.principal.account_id) return 'foreign';
    if (outcome.expiresAt < this.session.expiresAt && this.state === 'good') return 'refreshed';
    this.validate = validate;
    this.setSession(outcome);
    this.state = 'good';
    this.hasWarned = false;
    return 'refreshed';
  }

  private recordOutcome(validate: SessionCheck<Holder>, outcome: SessionOutcome<Holder>): SessionState {
    // Another token has replaced this one meanwhile.
    if (validate !== this.validate) return this.state;
    if (typeof outcome !== 'string' && outcome !== this.session) this.setSession(outcome);
    this.state = typeof outcome === 'string' ? outcome : 'good';
    return this.state;
  }

  private setSession(session: ClientSession<Holder>): void {
    this.session = session;
    this.endsAt = endOf(session);
  }

  private remainingNanos(): bigint {
    return this.endsAt - this.clock.epochNanos();
  }
}

function endOf({ expiresAt }: ClientSession<SessionHolder>): bigint {
  return BigInt(expiresAt) * NANOS_PER_SECOND;
}
