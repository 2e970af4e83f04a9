import { EXIT } from '#libs/platform/process/start-fault.js';
import { randomUUID } from 'node:crypto';
import { type ApiAnswer, ApiClient, type ApiRequest } from '#libs/client/api-client.js';
import { CommandFault, EXIT_INTERRUPTED, EXIT_REFUSED } from './arguments.js';

export type Method = 'GET' | 'POST' | 'DELETE';

/** A token that was given, or one of a login that ends with this command. */
export interface GatewayCredentials {
  readonly token: string;
  readonly mine: boolean;
}

export interface ClientPorts {
  readonly url: string;
  readonly stop: AbortSignal;
  /** Called before the first request, and again when the session of a login expired. */
  readonly credentials: (client: GatewayClient) => Promise<GatewayCredentials>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface GatewayRequest {
  readonly method: Method;
  readonly path: string;
  readonly body?: object | undefined;
  readonly token?: string;
  /** How long to wait for an answer. */
  readonly timeout: number;
}

/** Longer than a gateway waits for an owner. */
const TIMEOUT_MILLIS = 20_000;
const LOGOUT_MILLIS = 1_000;
const UNAUTHORIZED = 401;
const NEVER_ABORTED = new AbortController().signal;

/** Calls a gateway like any other client, and reports its refusals in one line. */
export class GatewayClient {
  private session: Promise<GatewayCredentials> | undefined;
  private readonly api: ApiClient;

  constructor(private readonly ports: ClientPorts) {
    this.api = new ApiClient(ports.url);
  }

  get<T>(path: string, within?: number): Promise<T> {
    return this.call<T>('GET', path, undefined, within);
  }

  /** `within` is for callers with less time than a gateway may take. */
  async call<T>(method: Method, path: string, body?: object, within = TIMEOUT_MILLIS): Promise<T> {
    const apiCall = { method, path, body, timeout: Math.min(within, TIMEOUT_MILLIS) };
    const { token, mine } = await this.currentSession();
    let answer = await this.exchange({ ...apiCall, token });
    // A command that waits for a drain may outlive its session. A request answered with 401 was not carried
    // out.
    if (answer.status === UNAUTHORIZED && mine) {
      answer = await this.exchange({ ...apiCall, token: await this.renewedToken(token) });
    }
    if (answer.status >= 400) throw refusalOf(answer, path);
    if (answer.body === UNREADABLE) throw ofSomebodyElse(path);
    return answer.body as T;
  }

  /** A failed login is not kept: a waiting command tries again at its next request. */
  private async currentSession(): Promise<GatewayCredentials> {
    const session = (this.session ??= this.ports.credentials(this));
    try {
      return await session;
    } catch (error) {
      if (this.session === session) this.session = undefined;
      throw error;
    }
  }

  private async renewedToken(former: string): Promise<string> {
    void this.end(former);
    this.session = undefined;
    return (await this.currentSession()).token;
  }

  async logIn(email: string, password: string): Promise<string> {
    const path = '/auth/login';
    const apiCall = { method: 'POST', path, body: { email, password }, timeout: TIMEOUT_MILLIS } as const;
    // Not aborted with the command: a session must be known to be logged out.
    const answer = await this.exchange(apiCall, NEVER_ABORTED);
    if (answer.status === UNAUTHORIZED) {
      throw new CommandFault('wrong e-mail or password', EXIT_REFUSED, {
        status: UNAUTHORIZED,
        error: 'unauthorized',
      });
    }
    if (answer.status !== 200) throw refusalOf(answer, path);
    if (answer.body === UNREADABLE) throw ofSomebodyElse(path);
    const { access_token: token } = answer.body as { access_token?: unknown };
    if (typeof token !== 'string' || token === '') throw ofSomebodyElse(path);
    return token;
  }

  /** For another service that accepts the same sessions. */
  async token(): Promise<string> {
    return (await this.currentSession()).token;
  }

  /** Logs out the session that this command began, however it ends. Ignores failures. */
  async close(): Promise<void> {
    const credentials = await this.session?.catch(() => undefined);
    if (credentials?.mine === true) await this.end(credentials.token);
    this.api.close();
  }

  /** Anyone with the token of an expired session could still refresh it. */
  private async end(token: string): Promise<void> {
    const apiCall = { method: 'POST', path: '/auth/logout', token, timeout: LOGOUT_MILLIS } as const;
    await this.request(apiCall, NEVER_ABORTED).catch(() => undefined);
  }

  private async exchange(apiCall: GatewayRequest, stop = this.ports.stop): Promise<Answer> {
    const { url } = this.ports;
    try {
      return await this.request(apiCall, stop);
    } catch {
      if (stop.aborted) throw new CommandFault('interrupted', EXIT_INTERRUPTED);
      throw new CommandFault(`nothing answers at ${url}: is the gateway running?`, EXIT.unavailable);
    }
  }

  private async request(apiCall: GatewayRequest, signal: AbortSignal): Promise<Answer> {
    const { method, path, body, token, timeout } = apiCall;
    const requestId = randomUUID();
    const apiRequest: ApiRequest = {
      body,
      requestId,
      signal,
      timeoutMs: timeout,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    };
    const answer = await this.api.send<unknown>(method, path, apiRequest);
    // A gateway returns the request id. Another server does not know it.
    const isOurs = answer.headers['x-request-id'] === requestId;
    return { status: answer.status, body: isOurs || answer.status >= 400 ? bodyOf(answer) : UNREADABLE };
  }
}

/** The body of a balancer or a web page. */
const UNREADABLE = Symbol('no JSON');

function bodyOf({ text, body }: ApiAnswer<unknown>): unknown {
  return text === '' ? {} : (body ?? UNREADABLE);
}

/** Another server answers at the gateway's address. Whether the command was carried out is unknown. */
export function ofSomebodyElse(path: string): CommandFault {
  return new CommandFault(`${path}: an answer that is not of this service`, EXIT.unavailable);
}

const EXPLAINED: Readonly<Record<string, string>> = {
  unauthorized: 'the token is invalid or has expired: log in again',
  login_rate_limited: 'too many failed logins: wait a minute',
  invalid_request: 'a value is out of range, or names something unknown',
  auction_not_found: 'there is no such auction',
  auction_owner_unavailable:
    'the owner of the shard does not answer: the command may have been carried out, so check and try again',
};

function refusalOf({ status, body }: Answer, path: string): CommandFault {
  const [error, message] = codeAndMessage(body);
  const why = message ?? (error === undefined ? undefined : (EXPLAINED[error] ?? notFound(error, path)));
  const code = error ?? 'an answer that is not of this service';
  const line = `${status} ${code}${why === undefined ? '' : `: ${why}`}`;
  // A gateway that cannot reach a dependency does not refuse: the command may work soon.
  const exitCode = status >= 500 ? EXIT.unavailable : EXIT_REFUSED;
  return new CommandFault(line, exitCode, { status, ...(error === undefined ? {} : { error }) });
}

/** Code and message. Order execution has its code in `error_details`. */
function codeAndMessage(body: unknown): readonly (string | undefined)[] {
  const parsed = body as { error?: unknown; message?: unknown; error_details?: { code?: unknown } };
  const code = parsed.error_details?.code;
  return (code === undefined ? [parsed.error, parsed.message] : [code, parsed.error]).map((one) =>
    typeof one === 'string' ? one : undefined,
  );
}

/** Accounts that are no operators get 404 for these paths too. */
function notFound(error: string, path: string): string | undefined {
  if (error !== 'not_found') return undefined;
  return `${path} does not exist, or this account is not an operator`;
}
