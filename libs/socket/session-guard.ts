import { NANOS_PER_MILLI, NANOS_PER_SECOND } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';

export interface SessionHolder {
  readonly account_id: string;
}

/** A valid token, and its holder. */
export interface ClientSession<Who extends SessionHolder> {
  readonly principal: Who;
  /** In seconds since 1970. */
  readonly expiresAt: number;
}
/** `forbidden`: the token is valid, but not for this purpose, or not from there. */
export type SessionOutcome<Who extends SessionHolder> =
  ClientSession<Who> | 'unauthorized' | 'forbidden' | 'unavailable';

/** Whether a token is valid at this moment. Called again and again, so it answers from memory when it can. */
export type SessionCheck<Who extends SessionHolder> = () =>
  SessionOutcome<Who> | Promise<SessionOutcome<Who>>;

export interface Sessions<Who extends SessionHolder> {
  /** Does once what never changes about the token, however often the check is made. */
  checkOf(token: string): SessionCheck<Who>;
}

export type SessionState = 'good' | 'unauthorized' | 'forbidden' | 'unavailable';

/** The token of one connection: whether it is still valid, when it ends, and which one replaces it. */
export class SessionGuard<Who extends SessionHolder> {
  private isAsking = false;
  private state: SessionState = 'good';
  private isNoticed = false;
  /** When the present token ends. */
  private ask: SessionCheck<Who>;
  private endsAt: bigint;

  constructor(
    private readonly sessions: Sessions<Who>,
    private readonly clock: Clock,
    token: string,
    private session: ClientSession<Who>,
  ) {
    this.ask = sessions.checkOf(token);
    this.endsAt = endOf(session);
  }

  get principal(): Who {
    return this.session.principal;
  }

  get expiresAt(): number {
    return this.session.expiresAt;
  }

  /** What is known now. A reply that takes time counts from the next poll on. */
  poll(): SessionState {
    if (!this.isAsking) {
      const state = this.check();
      if (!(state instanceof Promise)) return state;
      this.isAsking = true;
      void state.then(() => {
        this.isAsking = false;
      });
    }
    return this.remainingNanos() <= 0n ? 'unauthorized' : this.state;
  }

  /** For callers that need the state at this moment. */
  check(): SessionState | Promise<SessionState> {
    if (this.remainingNanos() <= 0n) return 'unauthorized';
    const { ask } = this;
    const outcome = ask();
    if (!(outcome instanceof Promise)) return this.learn(ask, outcome);
    // A failed check does not say that the token is invalid.
    return outcome.catch(() => 'unavailable' as const).then((learned) => this.learn(ask, learned));
  }

  /** True once for each token, when its end is near. */
  isEnding(noticeMillis: number): boolean {
    if (this.isNoticed || this.remainingNanos() > BigInt(noticeMillis) * NANOS_PER_MILLI) return false;
    this.isNoticed = true;
    return true;
  }

  /** A newer token of the same account takes over; one that ends sooner is good and changes nothing. */
  async refresh(
    token: string,
  ): Promise<'refreshed' | 'foreign' | Exclude<SessionOutcome<Who>, ClientSession<Who>>> {
    const ask = this.sessions.checkOf(token);
    const outcome = await ask();
    if (typeof outcome === 'string') return outcome;
    if (outcome.principal.account_id !== this.principal.account_id) return 'foreign';
    if (outcome.expiresAt < this.session.expiresAt && this.state === 'good') return 'refreshed';
    this.ask = ask;
    this.hold(outcome);
    this.state = 'good';
    this.isNoticed = false;
    return 'refreshed';
  }

  private learn(ask: SessionCheck<Who>, outcome: SessionOutcome<Who>): SessionState {
    // Another token has taken over meanwhile.
    if (ask !== this.ask) return this.state;
    if (typeof outcome !== 'string' && outcome !== this.session) this.hold(outcome);
    this.state = typeof outcome === 'string' ? outcome : 'good';
    return this.state;
  }

  private hold(session: ClientSession<Who>): void {
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
