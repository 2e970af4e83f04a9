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
 * A caller that fails does not learn why: an unknown address, a wrong password and a disabled user get the same reply after the
 * same work.
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
      const by = loginKeys(email, address);
      // Even the read of the throttle waits for its turn: a flood must not keep the database busy.
      const done = await this.queue.run(by, () => this.attempt(email, password, keysOf(by)));
      if (typeof done === 'object') return done.result;
      return refused(done === 'share' ? 'throttled' : 'unavailable');
    });
  }

  /**
   * Whether a logged-in user knows its password. Wrong guesses count with the failed logins of the same user; the caller counts those
   * of the address.
   */
  confirm(email: string, password: string, address: string | undefined): Promise<ConfirmResult> {
    return unlessUnreachable(async () => {
      const by = loginKeys(email, address);
      const done = await this.queue.run(by, () => this.confirmed(email, password, [by.email]));
      if (typeof done === 'object') return done.result;
      return refused(done === 'share' ? 'throttled' : 'unavailable');
    });
  }

  private async confirmed(email: string, password: string, keys: readonly string[]): Promise<ConfirmResult> {
    const user = await this.rightful(email, password, keys);
    return 'ok' in user ? user : { ok: true };
  }

  private async attempt(email: string, password: string, keys: readonly string[]): Promise<LoginResult> {
    const user = await this.rightful(email, password, keys);
    return 'ok' in user ? user : this.sessions.open({ accountId: user.account_id, email: user.email });
  }

  /**
   * Reads the throttle again at the end, even for a right password: concurrent attempts get the same replies as consecutive ones, in
   * the order in which they ended, so a burst gets no extra guesses.
   */
  private async rightful(
    email: string,
    password: string,
    keys: readonly string[],
  ): Promise<LoginRow | Refusal<'invalid' | 'throttled'>> {
    // Read when its turn has come: others may have used up the failures while it waited.
    if (await this.throttle.isOver(keys)) return refused('throttled');
    const user = await this.store.loginOf(email);
    const right = await this.passwords.isRight(password, user?.password_hash);
    if (user === undefined || !right || user.disabled) {
      return refused((await this.throttle.countFailure(keys)) ? 'invalid' : 'throttled');
    }
    return (await this.throttle.isOver(keys)) ? refused('throttled') : user;
  }
}

function keysOf({ email, network }: Attempt): readonly string[] {
  return [email, network];
}

/**
 * The keys under which one attempt is counted. Digests, because people type passwords into the wrong field, and because the input
 * may have any length.
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
