import type { PasswordCheck } from '../passwords/password-check.js';
import { WorkQueue } from '../passwords/work-queue.js';
import { failureKeys } from './login-keys.js';
import type { LoginThrottle } from './login-throttle.js';
import { refused, unlessUnreachable, type LoginResult } from './outcomes.js';
import type { SessionService } from './session-service.js';
import type { SessionStore } from './session-store.js';

/** Passwords checked at a time; the thread pool of a process has four threads, and others need some. */
const AT_ONCE = 2;
const MOST_WAITING = 1_000;

/**
 * Whoever fails learns nothing of why: an unknown address, a wrong password and a disabled user are answered alike, after
 * the same work.
 */
export class LoginService {
  private readonly queue = new WorkQueue(AT_ONCE, MOST_WAITING);

  constructor(
    private readonly store: SessionStore,
    private readonly throttle: LoginThrottle,
    private readonly passwords: PasswordCheck,
    private readonly sessions: SessionService,
  ) {}

  login(email: string, password: string, address: string | undefined): Promise<LoginResult> {
    return unlessUnreachable(async () => {
      const keys = failureKeys(email, address);
      if (await this.throttle.isOver(keys)) return refused('throttled');
      const done = await this.queue.run(() => this.attempt(email, password, keys));
      return done?.result ?? refused('unavailable');
    });
  }

  /**
   * The throttle is asked again at the end, also for a right password: attempts made at the same time are answered as if
   * each had come alone, in the order in which they ended, so no burst gets more guesses than one after the other would.
   */
  private async attempt(email: string, password: string, keys: readonly string[]): Promise<LoginResult> {
    // Others may have used up the failures while this one waited; then there is no work to be done for it.
    if (await this.throttle.isOver(keys)) return refused('throttled');
    const user = await this.store.loginOf(email);
    const right = await this.passwords.isRight(password, user?.password_hash);
    if (user === undefined || !right || user.disabled) {
      return refused((await this.throttle.countFailure(keys)) ? 'invalid' : 'throttled');
    }
    if (await this.throttle.isOver(keys)) return refused('throttled');
    return this.sessions.open({ accountId: user.account_id, email: user.email });
  }
}
