import type { Attempt, LoginQueue } from '../passwords/login-queue.js';
import type { PasswordCheck } from '../passwords/password-check.js';
import type { LoginThrottle } from './login-throttle.js';
import {
  type ConfirmResult,
  type LoginResult,
  type Refusal,
  refused,
  unlessUnreachable,
} from './outcomes.js';
import type { SessionService } from './session-service.js';
import type { LoginRow, SessionStore } from './session-store.js';
import { createHash } from 'node:crypto';
import { networkOf } from '#libs/platform/network-of.js';
import { emailKey } from '../accounts/email.js';

/**
 * Logs users in. Does not reveal why a login fails: an unknown address, a wrong password and a disabled user get the same reply
 * after the same work.
 */
export class LoginService {
  constructor(
    private readonly store: SessionStore,
    private readonly throttle: LoginThrottle,
    private readonly passwords: PasswordCheck,
    private readonly sessions: SessionService,
    private readonly queue: LoginQueue,
  ) {}

  login(email: string, password: string, address: string | undefined): Promise<LoginResult> {
    return unlessUnreachable(async () => {
      const attempt = loginKeys(email, address);
      // Even reading the throttle waits in the queue, so that a flood does not keep the database busy.
      const outcome = await this.queue.run(attempt, () => this.openSession(email, password, keysOf(attempt)));
      if (typeof outcome === 'object') return outcome.result;
      return refused(outcome === 'share' ? 'throttled' : 'unavailable');
    });
  }

  /**
   * Checks the password of a user that is logged in. Failures count with the failed logins of the user. The caller counts failures
   * of the network address.
   */
  confirm(email: string, password: string, address: string | undefined): Promise<ConfirmResult> {
    return unlessUnreachable(async () => {
      const attempt = loginKeys(email, address);
      const outcome = await this.queue.run(attempt, () =>
        this.checkPassword(email, password, [attempt.email]),
      );
      if (typeof outcome === 'object') return outcome.result;
      return refused(outcome === 'share' ? 'throttled' : 'unavailable');
    });
  }

  private async checkPassword(
    email: string,
    password: string,
    keys: readonly string[],
  ): Promise<ConfirmResult> {
    const user = await this.authenticate(email, password, keys);
    return 'ok' in user ? user : { ok: true };
  }

  private async openSession(email: string, password: string, keys: readonly string[]): Promise<LoginResult> {
    const user = await this.authenticate(email, password, keys);
    return 'ok' in user ? user : this.sessions.open({ accountId: user.account_id, email: user.email });
  }

  /**
   * Reads the throttle again after the check, also for a right password. So concurrent attempts get the same replies as consecutive
   * ones, and a burst gets no extra guesses.
   */
  private async authenticate(
    email: string,
    password: string,
    keys: readonly string[],
  ): Promise<LoginRow | Refusal<'invalid' | 'throttled'>> {
    // Read only now, because other attempts may have used up the failures while this one waited.
    if (await this.throttle.isOver(keys)) return refused('throttled');
    const user = await this.store.loginOf(email);
    const isRight = await this.passwords.isRight(password, user?.password_hash);
    if (user === undefined || !isRight || user.disabled) {
      return refused((await this.throttle.countFailure(keys)) ? 'invalid' : 'throttled');
    }
    return (await this.throttle.isOver(keys)) ? refused('throttled') : user;
  }
}

function keysOf({ email, network }: Attempt): readonly string[] {
  return [email, network];
}

/**
 * The keys under which one attempt is counted. They are digests, because users type passwords into the wrong field, and because
 * the input may have any length.
 */
export function loginKeys(email: string, address: string | undefined): Attempt {
  return {
    email: digest(`email:${emailKey(email) ?? email}`),
    network: digest(`address:${address === undefined ? '' : networkOf(address)}`),
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
