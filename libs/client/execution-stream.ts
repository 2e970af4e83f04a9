import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { SystemClock } from '#libs/platform/time/system-clock.js';

/** A message of `/ws`, as it came. Members that every one of its type has are named. */
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
  /** The triple of a key, for instance. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A handshake that was answered with something else than a WebSocket. */
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
const PATIENCE_MS = 15_000;

/** One socket of order execution: says what it is told to, collects what it hears, and judges nothing. */
export class OrderStream {
  readonly frames: OrderFrame[] = [];
  /** What was asked, by its `req_id`. */
  readonly asked = new Map<string, string>();
  closed: { readonly code: number; readonly reason: string } | undefined;
  /** The latest token, and the last `seq` of each subscription. */
  token: string | undefined;
  readonly seen: Record<string, number> = {};
  private readonly waiting = new Set<() => void>();

  private constructor(
    private readonly ws: WebSocket,
    private readonly wire: Socket,
  ) {
    ws.on('message', (data: Buffer) => {
      this.heard(data.toString());
    });
    ws.on('error', () => undefined);
    ws.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.look();
    });
  }

  /** Fails with HandshakeRefused when the handshake is answered in any other way. */
  static open(baseUrl: string, options: OrderStreamOptions = {}): Promise<OrderStream> {
    const { token, protocols = [], headers = {} } = options;
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return new Promise((resolve, reject) => {
      const ws = new WebSocket(`${baseUrl.replace(/^http/, 'ws')}/ws`, [...protocols], {
        headers: { ...authorization, ...headers },
        perMessageDeflate: false,
      });
      // The first frames may come with the answer to the handshake, so whoever listens must be there by then.
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

  /** `fields` go with the greeting. Resolves with the welcome. */
  hello(fields: Fields = {}): Promise<OrderFrame> {
    return this.ask('hello', fields);
  }

  /** Goes on with what another socket has heard. */
  resume({ token, seen }: OrderStream, fields: Fields = {}): Promise<OrderFrame> {
    Object.assign(this.seen, seen);
    this.token = token;
    return this.hello({ resume_token: token, seen, ...fields });
  }

  /** Resolves with the id of the subscription, when its snapshot is complete. */
  async subscribe(fields: Fields = {}): Promise<string> {
    const reply = await this.ask('subscribe', { channel: 'orders', ...fields });
    const id = reply.subscription_id;
    if (id === undefined) throw new Error(`not subscribed: ${JSON.stringify(reply)}`);
    await this.until(
      (frame) => frame.type === 'snapshot' && frame.subscription_id === id && frame.more === false,
    );
    return id;
  }

  /** Resolves with the reply, whatever it is. */
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

  /** The first frame of this kind among all that have come and will come. */
  async until(isIt: (frame: OrderFrame) => boolean): Promise<OrderFrame> {
    let found: OrderFrame | undefined;
    await this.untilIt(() => (found = this.frames.find(isIt)) !== undefined);
    if (found === undefined) throw this.surprise('it did not come');
    return found;
  }

  /** As soon as it holds behind some frame, or the end; the first moment is now. */
  untilIt(holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const isThere = holds();
        if (!isThere && this.closed === undefined) return;
        over();
        if (isThere) resolve();
        else reject(this.surprise('the stream ended'));
      };
      const cancel = CLOCK.after(PATIENCE_MS, () => {
        over();
        reject(this.surprise('it did not come'));
      });
      const over = (): void => {
        cancel();
        this.waiting.delete(look);
      };
      this.waiting.add(look);
      look();
    });
  }

  async untilClosed(): Promise<number> {
    await this.untilIt(() => this.closed !== undefined);
    return this.closed?.code ?? 0;
  }

  /** What arrives stays in the pipes of the network, until they are full. */
  stopReading(): void {
    this.ws.pause();
  }

  goOnReading(): void {
    this.ws.resume();
  }

  /** As when the machine of the client dies: nobody is told. */
  kill(): void {
    this.wire.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.ws.close(1000);
    await this.untilClosed();
  }

  private heard(text: string): void {
    const frame = JSON.parse(text) as OrderFrame;
    this.frames.push(frame);
    if (frame.resume_token !== undefined) this.token = frame.resume_token;
    if (frame.subscription_id !== undefined && frame.seq !== undefined)
      this.seen[frame.subscription_id] = frame.seq;
    this.look();
  }

  private look(): void {
    for (const look of [...this.waiting]) look();
  }

  private surprise(what: string): Error {
    const last = this.frames.slice(-6).map((frame) => JSON.stringify(frame).slice(0, 300));
    return new Error(`${what} (${JSON.stringify(this.closed)}); the last frames were\n${last.join('\n')}`);
  }
}

async function refusalIn(response: IncomingMessage): Promise<HandshakeRefused> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return new HandshakeRefused(response.statusCode ?? 0, Buffer.concat(chunks).toString());
}
