import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { SystemClock } from '#libs/platform/time/system-clock.js';

/** A message of `/ws` as received. Only members that all messages of a type have are named. */
export interface OrderFrame {
  readonly type: string;
  readonly req_id?: string;
  readonly subscription_id?: string;
  readonly seq?: number;
  readonly resume_token?: string;
  readonly status?: number;
  readonly reason?: string;
  readonly more?: boolean;
  readonly resumed?: boolean;
  readonly [member: string]: unknown;
}

export interface OrderStreamOptions {
  readonly token?: string;
  readonly protocols?: readonly string[];
  /** For instance the three headers of an API key. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The handshake got an HTTP response instead of a WebSocket. */
export class HandshakeRefused extends Error {
  override readonly name = 'HandshakeRefused';

  constructor(
    readonly status: number,
    readonly text: string,
  ) {
    super(`the handshake was answered ${status} ${text}`);
  }
}

type Fields = Readonly<Record<string, unknown>>;
const CLOCK = new SystemClock();
const TIMEOUT_MS = 15_000;

/** One socket of order execution. Sends what its caller asks for and collects all frames, without checking them. */
export class OrderStream {
  readonly frames: OrderFrame[] = [];
  /** The requests sent, by `req_id`. */
  readonly asked = new Map<string, string>();
  closed: { readonly code: number; readonly reason: string } | undefined;
  /** The latest resume token. */
  token: string | undefined;
  /** The last `seq` of each subscription. */
  readonly seen: Record<string, number> = {};
  private readonly waiting = new Set<() => void>();

  private constructor(
    private readonly ws: WebSocket,
    private readonly wire: Socket,
  ) {
    ws.on('message', (data: Buffer) => {
      this.onText(data.toString());
    });
    ws.on('error', () => undefined);
    ws.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.checkAll();
    });
  }

  /** Rejects with HandshakeRefused if the handshake gets an HTTP response instead. */
  static open(baseUrl: string, options: OrderStreamOptions = {}): Promise<OrderStream> {
    const { token, protocols = [], headers = {} } = options;
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return new Promise((resolve, reject) => {
      const ws = new WebSocket(`${baseUrl.replace(/^http/, 'ws')}/ws`, [...protocols], {
        headers: { ...authorization, ...headers },
        perMessageDeflate: false,
      });
      // The first frames may arrive with the response to the handshake, so the listener must be attached now.
      ws.on('upgrade', ({ socket }) => {
        const stream = new OrderStream(ws, socket);
        ws.on('open', () => {
          resolve(stream);
        });
      });
      ws.on('unexpected-response', (_, response) => {
        refusalIn(response).then(reject, reject);
      });
      ws.on('error', reject);
    });
  }

  /** Sends a hello with `fields`. Resolves with the welcome. */
  hello(fields: Fields = {}): Promise<OrderFrame> {
    return this.ask('hello', fields);
  }

  /** Resumes from the position of another socket. */
  resume({ token, seen }: OrderStream, fields: Fields = {}): Promise<OrderFrame> {
    Object.assign(this.seen, seen);
    this.token = token;
    return this.hello({ resume_token: token, seen, ...fields });
  }

  /** Resolves with the id of the subscription once its snapshot is complete. */
  async subscribe(fields: Fields = {}): Promise<string> {
    const reply = await this.ask('subscribe', { channel: 'orders', ...fields });
    const id = reply.subscription_id;
    if (id === undefined) throw new Error(`not subscribed: ${JSON.stringify(reply)}`);
    await this.until(
      (frame) => frame.type === 'snapshot' && frame.subscription_id === id && frame.more === false,
    );
    return id;
  }

  /** Sends a request. Resolves with its reply, also if that is a refusal. */
  ask(op: string, fields: Fields = {}, reqId: string = randomUUID()): Promise<OrderFrame> {
    const reply = this.until((frame) => frame.req_id === reqId);
    const text = JSON.stringify({ op, req_id: reqId, ...fields });
    this.asked.set(reqId, text);
    this.say(text);
    return reply;
  }

  say(text: string): void {
    this.ws.send(text, () => undefined);
  }

  /** Resolves with the first matching frame, received already or later. */
  async until(matches: (frame: OrderFrame) => boolean): Promise<OrderFrame> {
    let found: OrderFrame | undefined;
    await this.untilIt(() => (found = this.frames.find(matches)) !== undefined);
    if (found === undefined) throw this.failure('no matching frame came');
    return found;
  }

  /** Resolves once the condition holds. Checks it now, after each frame, and at the end of the stream. */
  untilIt(holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const isTrue = holds();
        if (!isTrue && this.closed === undefined) return;
        finish();
        if (isTrue) resolve();
        else reject(this.failure('the stream ended'));
      };
      const cancel = CLOCK.after(TIMEOUT_MS, () => {
        finish();
        reject(this.failure('no matching frame came'));
      });
      const finish = (): void => {
        cancel();
        this.waiting.delete(check);
      };
      this.waiting.add(check);
      check();
    });
  }

  async untilClosed(): Promise<number> {
    await this.untilIt(() => this.closed !== undefined);
    return this.closed?.code ?? 0;
  }

  /** Stops reading. Data stays in the buffers of the network until they are full. */
  stopReading(): void {
    this.ws.pause();
  }

  goOnReading(): void {
    this.ws.resume();
  }

  /** Resets the connection without a close frame, as when the machine of the client dies. */
  kill(): void {
    this.wire.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.ws.close(1000);
    await this.untilClosed();
  }

  private onText(text: string): void {
    const frame = JSON.parse(text) as OrderFrame;
    this.frames.push(frame);
    if (frame.resume_token !== undefined) this.token = frame.resume_token;
    if (frame.subscription_id !== undefined && frame.seq !== undefined)
      this.seen[frame.subscription_id] = frame.seq;
    this.checkAll();
  }

  private checkAll(): void {
    for (const check of [...this.waiting]) check();
  }

  private failure(reason: string): Error {
    const last = this.frames.slice(-6).map((frame) => JSON.stringify(frame).slice(0, 300));
    return new Error(`${reason} (${JSON.stringify(this.closed)}); the last frames were\n${last.join('\n')}`);
  }
}

async function refusalIn(response: IncomingMessage): Promise<HandshakeRefused> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return new HandshakeRefused(response.statusCode ?? 0, Buffer.concat(chunks).toString());
}
