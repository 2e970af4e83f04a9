import { EXIT } from '#libs/platform/process/start-fault.js';
import { randomUUID } from 'node:crypto';
import { type ApiAnswer, ApiClient, type ApiRequest } from '#libs/client/api-client.js';
import { CommandFault, EXIT_INTERRUPTED, EXIT_REFUSED } from './arguments.js';

export type Method = 'GET' | 'POST' | 'DELETE';

/** A token that was given, or one from a login, which is ended with this command. */
export interface GatewayCredentials {
  readonly token: string;
  readonly mine: boolean;
}

export interface ClientPorts {
  readonly url: string;
  readonly stop: AbortSignal;
  /** Asked before the first call, and again when the session of a login is over; given a way to log in. */
  readonly credentials: (client: GatewayClient) => Promise<GatewayCredentials>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Question {
  readonly method: Method;
  readonly path: string;
  readonly body?: object | undefined;
  readonly token?: string;
  /** For how long an answer is waited for. */
  readonly patience: number;
}

/** Longer than a gateway waits for an owner. */
const PATIENCE_MILLIS = 20_000;
const LOGOUT_MILLIS = 1_000;
const UNAUTHORIZED = 401;
const LASTING = new AbortController().signal;

/** Speaks to a gateway like any other client, and turns what it refuses into one line. */
export class GatewayClient {
  private session: Promise<GatewayCredentials> | undefined;
  private readonly api: ApiClient;

  constructor(private readonly ports: ClientPorts) {
    this.api = new ApiClient(ports.url);
  }

  get<T>(path: string, within?: number): Promise<T> {
    return this.call<T>('GET', path, undefined, within);
  }

  /** For callers with less time than a gateway may take. */
  async call<T>(method: Method, path: string, body?: object, within = PATIENCE_MILLIS): Promise<T> {
    const question = { method, path, body, patience: Math.min(within, PATIENCE_MILLIS) };
    const { token, mine } = await this.begun();
    let answer = await this.exchange({ ...question, token });
    // Sessions end by their time, and whoever waits for a drain may wait for longer. What is answered so has not been done.
    if (answer.status === UNAUTHORIZED && mine) {
      answer = await this.exchange({ ...question, token: await this.renewed(token) });
    }
    if (answer.status >= 400) throw refusalOf(answer, path);
    if (answer.body === UNREADABLE) throw ofSomebodyElse(path);
    return answer.body as T;
  }

  /** What cannot be had now may be had the next time that something is asked: whoever waits goes on waiting. */
  private async begun(): Promise<GatewayCredentials> {
    const session = (this.session ??= this.ports.credentials(this));
    try {
      return await session;
    } catch (error) {
      if (this.session === session) this.session = undefined;
      throw error;
    }
  }

  private async renewed(former: string): Promise<string> {
    void this.end(former);
    this.session = undefined;
    return (await this.begun()).token;
  }

  async logIn(email: string, password: string): Promise<string> {
    const path = '/auth/login';
    const question = { method: 'POST', path, body: { email, password }, patience: PATIENCE_MILLIS } as const;
    // Not cut off by who ends the command: a session that is begun has to be known, to be ended.
    const answer = await this.exchange(question, LASTING);
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

  /** For another service that takes the same sessions. */
  async token(): Promise<string> {
    return (await this.begun()).token;
  }

  /** A session that this command began ends with it, however it ends. A failure of that is ignored. */
  async close(): Promise<void> {
    const credentials = await this.session?.catch(() => undefined);
    if (credentials?.mine === true) await this.end(credentials.token);
    this.api.close();
  }

  /** An expired session could still be refreshed by anyone who has its token. */
  private async end(token: string): Promise<void> {
    const question = { method: 'POST', path: '/auth/logout', token, patience: LOGOUT_MILLIS } as const;
    await this.request(question, LASTING).catch(() => undefined);
  }

  private async exchange(question: Question, stop = this.ports.stop): Promise<Answer> {
    const { url } = this.ports;
    try {
      return await this.request(question, stop);
    } catch {
      if (stop.aborted) throw new CommandFault('interrupted', EXIT_INTERRUPTED);
      throw new CommandFault(`nothing answers at ${url}: is the gateway running?`, EXIT.unavailable);
    }
  }

  private async request(question: Question, signal: AbortSignal): Promise<Answer> {
    const { method, path, body, token, patience } = question;
    const requestId = randomUUID();
    const asked: ApiRequest = {
      body,
      requestId,
      signal,
      timeoutMs: patience,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    };
    const answer = await this.api.send<unknown>(method, path, asked);
    // A gateway gives the id back; another server that answers in its place does not know it.
    const isOurs = answer.headers['x-request-id'] === requestId;
    return { status: answer.status, body: isOurs || answer.status >= 400 ? bodyOf(answer) : UNREADABLE };
  }
}

/** What a balancer says, or a page that people read. */
const UNREADABLE = Symbol('no JSON');

function bodyOf({ text, body }: ApiAnswer<unknown>): unknown {
  return text === '' ? {} : (body ?? UNREADABLE);
}

/** Another server answers in the gateway's place, for the moment or because the URL is wrong: whether anything was done is not known. */
export function ofSomebodyElse(path: string): CommandFault {
  return new CommandFault(`${path}: an answer that is not of this service`, EXIT.unavailable);
}

const EXPLAINED: Readonly<Record<string, string>> = {
  unauthorized: 'the token does not count (any more): log in again',
  login_rate_limited: 'too many failed logins: wait a minute',
  invalid_request: 'a value is out of range, or names something that is not there',
  auction_not_found: 'there is no such auction',
  auction_owner_unavailable:
    'the owner of the shard does not answer: nobody knows whether it was done, so ask again',
};

function refusalOf({ status, body }: Answer, path: string): CommandFault {
  const [error, message] = saidIn(body);
  const why = message ?? (error === undefined ? undefined : (EXPLAINED[error] ?? notFound(error, path)));
  const code = error ?? 'an answer that is not of this service';
  const line = `${status} ${code}${why === undefined ? '' : `: ${why}`}`;
  // A gateway that cannot reach what it needs is no refusal: the same command may work in a moment.
  const exitCode = status >= 500 ? EXIT.unavailable : EXIT_REFUSED;
  return new CommandFault(line, exitCode, { status, ...(error === undefined ? {} : { error }) });
}

/** Code and message: order execution has its code among the details, beside the message. */
function saidIn(body: unknown): readonly (string | undefined)[] {
  const said = body as { error?: unknown; message?: unknown; error_details?: { code?: unknown } };
  const code = said.error_details?.code;
  return (code === undefined ? [said.error, said.message] : [code, said.error]).map((one) =>
    typeof one === 'string' ? one : undefined,
  );
}

/** For accounts that are no operators these paths do not exist, so a 404 may mean either. */
function notFound(error: string, path: string): string | undefined {
  if (error !== 'not_found') return undefined;
  return `${path} is not there, or this account is no operator`;
}
