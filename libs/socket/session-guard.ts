import type { Clock } from '#libs/platform/time/clock.js';
import type { Session, SessionCheck, SessionOutcome, Sessions } from '#libs/auction/stream/ports.js';

export type Standing = 'good' | 'unauthorized' | 'unavailable';

const NANOS_PER_SECOND = 1_000_000_000n;
const NANOS_PER_MILLI = 1_000_000n;

/** The token of one connection: whether it still holds, when it ends, and what takes its place. */
export class SessionGuard {
  private isAsking = false;
  private standing: Standing = 'good';
  private isNoticed = false;
  /** Of the token that holds at present. */
  private ask: SessionCheck;
  private endsAt: bigint;

  constructor(
    private readonly sessions: Sessions,
    private readonly clock: Clock,
    token: string,
    private session: Session,
  ) {
    this.ask = sessions.checkOf(token);
    this.endsAt = endOf(session);
  }

  get principal(): Session['principal'] {
    return this.session.principal;
  }

  get expiresAt(): number {
    return this.session.expiresAt;
  }

  /** As far as is known now. Where somebody has to be asked, the answer counts from the next look on. */
  look(): Standing {
    if (!this.isAsking) {
      const standing = this.check();
      if (!(standing instanceof Promise)) return standing;
      this.isAsking = true;
      void standing.then(() => {
        this.isAsking = false;
      });
    }
    return this.remainingNanos() <= 0n ? 'unauthorized' : this.standing;
  }

  /** For what must not be done on a standing that has gone stale. */
  check(): Standing | Promise<Standing> {
    if (this.remainingNanos() <= 0n) return 'unauthorized';
    const { ask } = this;
    const outcome = ask();
    if (!(outcome instanceof Promise)) return this.learn(ask, outcome);
    // Whoever fails to say has not said that it does not hold.
    return outcome.catch(() => 'unavailable' as const).then((learned) => this.learn(ask, learned));
  }

  /** True once for each token, when its end is near. */
  isEnding(noticeMillis: number): boolean {
    if (this.isNoticed || this.remainingNanos() > BigInt(noticeMillis) * NANOS_PER_MILLI) return false;
    this.isNoticed = true;
    return true;
  }

  /** A newer token of the same account takes over; one that ends sooner is good and changes nothing. */
  async refresh(token: string): Promise<'refreshed' | 'foreign' | Exclude<SessionOutcome, Session>> {
    const ask = this.sessions.checkOf(token);
    const outcome = await ask();
    if (typeof outcome === 'string') return outcome;
    if (outcome.principal.account_id !== this.principal.account_id) return 'foreign';
    if (outcome.expiresAt < this.session.expiresAt && this.standing === 'good') return 'refreshed';
    this.ask = ask;
    this.hold(outcome);
    this.standing = 'good';
    this.isNoticed = false;
    return 'refreshed';
  }

  private learn(ask: SessionCheck, outcome: SessionOutcome): Standing {
    // Meanwhile another token has taken over.
    if (ask !== this.ask) return this.standing;
    if (typeof outcome !== 'string' && outcome !== this.session) this.hold(outcome);
    this.standing = typeof outcome === 'string' ? outcome : 'good';
    return this.standing;
  }

  private hold(session: Session): void {
    this.session = session;
    this.endsAt = endOf(session);
  }

  private remainingNanos(): bigint {
    return this.endsAt - this.clock.epochNanos();
  }
}

function endOf({ expiresAt }: Session): bigint {
  return BigInt(expiresAt) * NANOS_PER_SECOND;
}
