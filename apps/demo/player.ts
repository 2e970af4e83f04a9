import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { StartFault } from '#libs/platform/process/start-fault.js';
import type { Stage } from './stage.js';
import type { Terminal } from './terminal.js';

export interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  /** What of the answer is worth showing; nothing, and the call itself is not shown either. */
  readonly show?: (answer: Record<string, unknown>) => unknown;
}

const ANSWER = z.record(z.string(), z.unknown());
const SESSION = z.object({ access_token: z.string() });

/** One of the people on the stage: speaks HTTP like any other client and lets the audience read along. */
export class Player {
  private constructor(
    readonly name: string,
    readonly accountId: string,
    private readonly call: (asked: Asked) => Promise<Record<string, unknown>>,
  ) {}

  static async enter(name: string, email: string, stage: Stage, terminal: Terminal): Promise<Player> {
    const password = stage.password;
    const answer = await send(
      stage,
      { method: 'POST', path: '/auth/login', body: { email, password } },
      undefined,
    );
    if (answer.status === 401) {
      throw new StartFault(
        `${email} cannot log in at ${stage.url}: is it a demo cluster, with this password?`,
      );
    }
    const { access_token: token } = SESSION.parse(expected(answer, `login of ${email}`));
    const call = (asked: Asked): Promise<Record<string, unknown>> =>
      played(name, stage, terminal, token, asked);
    const { account_id: accountId } = await call({ method: 'GET', path: '/v1/me' });
    return new Player(name, String(accountId), call);
  }

  get(path: string, show?: Asked['show']): Promise<Record<string, unknown>> {
    return this.call({ method: 'GET', path, ...(show === undefined ? {} : { show }) });
  }

  post(path: string, body: object, show: Asked['show']): Promise<Record<string, unknown>> {
    return this.call({ method: 'POST', path, body, ...(show === undefined ? {} : { show }) });
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function played(
  who: string,
  stage: Stage,
  terminal: Terminal,
  token: string,
  asked: Asked,
): Promise<Record<string, unknown>> {
  if (asked.show !== undefined) terminal.request(who, asked.method, asked.path, asked.body);
  const answer = await send(stage, asked, token);
  const body = expected(answer, `${asked.method} ${asked.path}`);
  if (asked.show !== undefined) terminal.reply(answer.status, asked.show(body));
  return body;
}

async function send(stage: Stage, { method, path, body }: Asked, token: string | undefined): Promise<Answer> {
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
  };
  try {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(new URL(path, stage.url), { method, headers, ...content });
    return { status: response.status, text: await response.text() };
  } catch {
    throw new StartFault(`nothing answers at ${stage.url}: is the cluster running?`);
  }
}

function expected({ status, text }: Answer, what: string): Record<string, unknown> {
  const body = ANSWER.safeParse(jsonOf(text));
  if (status < 300 && body.success) return body.data;
  throw new StartFault(`${what} was answered with ${status}: ${text.slice(0, 200)}`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
