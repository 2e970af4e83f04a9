import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient, textHeaders, type ApiAnswer } from '#libs/client/api-client.js';
import type { Random } from '../../simulator/kernel/random.js';
import type { Promised } from '../../simulator/oracle/promises.js';
import { StreamClient } from '#libs/client/stream-client.js';
import { decides, type ReadingKind, type Transcript } from './transcript.js';

type Fields = Readonly<Record<string, unknown>>;

/** A command as sent over the wire. */
export interface WireCommand {
  readonly command: Promised;
  readonly path: string;
  readonly body: Fields;
}

export interface Insistence {
  readonly tries: number;
  readonly gateway: number;
  readonly status: number;
}

interface ReadOptions {
  readonly auctionId?: string;
  readonly body?: Fields;
  readonly limit?: number;
  /** Kept in any case. */
  readonly isKept?: boolean;
}

const AGAIN = { firstMs: 40, mostMs: 800 };
/** Answers of hours are kept until the end, so only one in four of the larger ones is. */
const KEPT_OF = 4;
/** A client that cannot connect through a one-way cut gets no answer at all. */
const GREETED_WITHIN_MS = 5_000;
const LOGIN_LASTS_MS = 15 * 60_000;

export interface CallerOptions {
  readonly name: string;
  readonly account: string;
  readonly password: string;
  readonly gatewayUrls: readonly string[];
  readonly transcript: Transcript;
  readonly random: Random;
}

/** An HTTP client that uses any gateway and repeats a command until it has a final answer. */
export class LoadCaller {
  private answeredReads = 0;
  private token: { readonly text: string; readonly since: number } | undefined;
  private readonly clients: readonly ApiClient[];

  constructor(private readonly options: CallerOptions) {
    this.clients = options.gatewayUrls.map((url) => new ApiClient(url));
  }

  get account(): string {
    return this.options.account;
  }

  get name(): string {
    return this.options.name;
  }

  /** The token of a recent login; repeats the login until it succeeds. */
  async bearer(): Promise<string> {
    const now = performance.now();
    if (this.token !== undefined && now - this.token.since < LOGIN_LASTS_MS) return this.token.text;
    const body = { email: `${this.name}@demo.sotto`, password: this.options.password };
    for (;;) {
      const answer = await this.clients[this.anyGateway()]
        ?.send<{ access_token?: string }>('POST', '/auth/login', { body })
        .catch(nothing);
      if (answer?.status === 200 && answer.body.access_token !== undefined) {
        this.token = { text: answer.body.access_token, since: now };
        return this.token.text;
      }
      await sleep(AGAIN.mostMs);
    }
  }

  /** The final answer to a command: done, or refused for good. Undefined if the caller gives up first. */
  async settle(errand: WireCommand, givesUp: () => boolean): Promise<ApiAnswer | undefined> {
    const { command, path, body } = errand;
    for (let wait = AGAIN.firstMs; ; wait = Math.min(AGAIN.mostMs, 2 * wait)) {
      const gateway = this.anyGateway();
      const asked = { body, headers: { 'idempotency-key': command.key } };
      const answer = await this.ask('POST', path, asked, gateway);
      if (answer !== undefined) this.note(command, answer, gateway);
      if (answer !== undefined && isSettled(answer)) return answer;
      if (givesUp()) return undefined;
      await sleep(wait);
    }
  }

  /** One try; undefined without an answer. */
  async ask(
    method: string,
    path: string,
    asked: { readonly body?: Fields; readonly headers?: Readonly<Record<string, string>> } = {},
    gateway = this.anyGateway(),
  ): Promise<ApiAnswer | undefined> {
    const { transcript, account } = this.options;
    const headers = { ...asked.headers, authorization: `Bearer ${await this.bearer()}` };
    const answer = await this.clients[gateway]
      ?.send<Record<string, unknown>>(method, path, { ...asked, headers })
      .catch(nothing);
    if (answer === undefined) transcript.hearNothing();
    else {
      transcript.hear(account, {
        method,
        path,
        requestHeaders: headers,
        ...(asked.body === undefined ? {} : { requestBody: JSON.stringify(asked.body) }),
        status: answer.status,
        headers: textHeaders(answer.headers),
        body: answer.text,
      });
      if (answer.status === 401) transcript.fault(`${method} ${path}: a good token is refused`);
    }
    return answer;
  }

  async read(
    kind: ReadingKind,
    path: string,
    { auctionId = '', body, limit, isKept = false }: ReadOptions = {},
  ): Promise<void> {
    const method = body === undefined ? 'GET' : 'POST';
    const askedAt = performance.now();
    const answer = await this.ask(method, path, body === undefined ? {} : { body });
    if (answer === undefined) return;
    const { status, text } = answer;
    const { readings } = this.options.transcript;
    this.answeredReads += 1;
    if (status === 200 && !isKept && this.answeredReads % KEPT_OF !== 0) return;
    const reading = { account: this.account, auctionId, status, body: text, askedAt };
    readings.push({ kind, reading: limit === undefined ? reading : { ...reading, limit } });
  }

  /** The same read at every gateway at once; undefined without an answer. */
  async askEveryGateway(path: string): Promise<(ApiAnswer | undefined)[]> {
    const headers = { authorization: `Bearer ${await this.bearer()}` };
    return Promise.all(
      this.clients.map((client) =>
        client.send<Record<string, unknown>>('GET', path, { headers }).catch(nothing),
      ),
    );
  }

  /** Whether each gateway starts a stream; undefined if it does not. */
  async greetEveryGateway(): Promise<(true | undefined)[]> {
    const token = await this.bearer();
    return Promise.all(this.options.gatewayUrls.map((url) => greeted(url, token).catch(nothing)));
  }

  get gateways(): number {
    return this.clients.length;
  }

  /**
   * A gateway's answer to a read once it is 200 or this status, otherwise the answer to the last try; undefined
   * if that try had none.
   */
  async insist(path: string, { tries, gateway, status }: Insistence): Promise<ApiAnswer | undefined> {
    for (let left = tries; ; left -= 1) {
      const answer = await this.ask('GET', path, {}, gateway);
      if (answer?.status === status || answer?.status === 200 || left <= 1) return answer;
      await sleep(AGAIN.mostMs);
    }
  }

  close(): void {
    for (const client of this.clients) client.close();
  }

  private anyGateway(): number {
    return this.options.random.below(this.clients.length);
  }

  private note(command: Promised, { status, text, body }: ApiAnswer, gateway: number): void {
    const created = (body as { readonly auction_id?: string } | undefined)?.auction_id;
    const id = command.auctionId === '' ? created : command.auctionId;
    this.options.transcript.answered.push({
      command,
      status,
      body: text,
      shard: id === undefined ? -1 : Number(id[0]),
      gateway,
      endedAt: performance.now(),
    });
  }
}

async function greeted(url: string, token: string): Promise<true> {
  const client = await StreamClient.open(url, { token, withinMs: GREETED_WITHIN_MS });
  try {
    await client.hello();
    return true;
  } finally {
    client.kill();
  }
}

function nothing(): undefined {
  return undefined;
}

/** A withdraw-all that could not reach a shard must be repeated. */
function isSettled({ status, text }: ApiAnswer): boolean {
  if (!decides(status) || text.includes('"UNAVAILABLE"')) return false;
  return !text.includes('idempotency_key_in_progress');
}
