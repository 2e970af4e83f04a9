import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient, type ApiAnswer } from '#libs/client/api-client.js';

export const ORIGINATOR = 'originator-2';
/** The maker of the existing quotes, with a stream that can be resumed. */
export const QUOTER = 'maker-1';
/** A maker without quotes. */
export const NEWCOMER = 'maker-2';
export const OPERATOR = 'operator-1';
const AUDITOR = 'auditor-1';
/** An account whose sessions may be ended. */
export const LEAVER = 'originator-1';
const NAMES = [ORIGINATOR, QUOTER, NEWCOMER, OPERATOR, AUDITOR, 'viewer-1', LEAVER];
/** Failed logins block their address for a while, and hostile ones fail. */
const ADDRESS = '127.0.0.2';
const WITHIN_MS = 10_000;
const BETWEEN_MS = 50;

/** Operations that need another caller than their path suggests. */
export const CALLERS: ReadonlyMap<string, string> = new Map([
  ['submitQuote', NEWCOMER],
  ['preflightQuote', NEWCOMER],
  ['logout', LEAVER],
  ['logoutAll', LEAVER],
]);
/** The only account that may change the thing that an operation or message names. */
export const OWNERS: ReadonlyMap<string, string> = new Map([
  ...['reviseQuote', 'withdrawQuote', 'quote.revise', 'quote.withdraw'].map(
    (name) => [name, QUOTER] as const,
  ),
  ...['cancelAuction', 'replaceGroup', 'removeGroup', 'auction.cancel'].map(
    (name) => [name, ORIGINATOR] as const,
  ),
]);

/** What an accepted request removed cannot be created again, so the rest of the run would mean nothing. */
export class NotPutBack extends Error {}

/** Demo accounts with valid sessions. All valid requests of the run are sent here. */
export class Accounts {
  /** By account name. */
  readonly tokens = new Map<string, string>();
  private readonly client: ApiClient;

  constructor(
    gatewayUrl: string,
    readonly password: string,
  ) {
    this.client = new ApiClient(gatewayUrl, { localAddress: ADDRESS });
  }

  async logInAll(): Promise<void> {
    for (const name of NAMES) await this.logIn(name);
  }

  async logIn(name: string): Promise<void> {
    const body = { email: `${name}@demo.sotto`, password: this.password };
    const answer = await this.ask<{ readonly access_token: string }>('', 'POST', '/auth/login', body);
    if (answer.status !== 200) throw new Error(`${name} cannot log in: ${answer.text}`);
    this.tokens.set(name, answer.body.access_token);
  }

  ask<Body>(name: string, method: string, path: string, body?: object): Promise<ApiAnswer<Body>> {
    const token = this.tokens.get(name);
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { ...authorization, 'idempotency-key': randomUUID() };
    return this.client.send<Body>(method, path, { headers, ...(body === undefined ? {} : { body }) });
  }

  /** Repeats the request until it is accepted: effects of others may need a moment to end. */
  async insist<Body>(name: string, method: string, path: string, body: object): Promise<Body> {
    const deadline = performance.now() + WITHIN_MS;
    for (;;) {
      const answer = await this.ask<Body>(name, method, path, body);
      if (answer.status < 300) return answer.body;
      if (performance.now() > deadline)
        throw new NotPutBack(`not put back: ${method} ${path} ${answer.status} ${answer.text}`);
      await sleep(BETWEEN_MS);
    }
  }

  close(): void {
    this.client.close();
  }
}
