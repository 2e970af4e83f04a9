import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { observed, textHeaders } from './api-client.js';
import { StreamMemory } from './stream-memory.js';
import type { Ack, FrameOf, Reject, ServerFrame, Welcome } from './stream-wire.js';

type Fields = Readonly<Record<string, unknown>>;

export interface StreamOptions {
  /** Sent in the Authorization header. */
  readonly token?: string;
  /** Offered as subprotocols, as a browser would. */
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** The memory of an earlier socket, from which this one can resume. */
  readonly memory?: StreamMemory;
  /** `false`: pings of the server get no pong. */
  readonly answersPings?: false;
  /** How long to wait for the handshake; without it, forever. */
  readonly withinMs?: number;
  /** For load tests, whose frames would fill the heap: stores no frames, and does not validate UTF-8. */
  readonly keepsNothing?: true;
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** The handshake got an HTTP response instead of a WebSocket. */
export class UpgradeRefused extends Error {
  constructor(
    readonly status: number,
    readonly headers: IncomingHttpHeaders,
    readonly text: string,
  ) {
    super(`the handshake was answered ${status} ${text}`);
  }
}

interface FrameWaiter {
  readonly check: (frame: ServerFrame) => void;
  readonly fail: (error: Error) => void;
}

interface WaiterCallbacks {
  readonly reject: (error: Error) => void;
  /** Returns true if this is the awaited frame. */
  readonly check: (frame: ServerFrame) => boolean;
  /** Called once, when the wait ends for any reason. */
  readonly leave: () => void;
}

const CLOCK = new SystemClock();
const HANDSHAKE = { method: 'GET', path: '/v1/stream', requestHeaders: {} };
const TIMEOUT_MS = 15_000;
const FRAMES_IN_FAILURE = 6;

/** One socket of the stream. Sends what its caller asks for and collects all frames, without checking them. */
export class StreamClient {
  readonly frames: ServerFrame[] = [];
  /** The texts of the frames as received. */
  readonly texts: string[] = [];
  readonly memory: StreamMemory;
  /** The payloads of received pongs. */
  readonly pongs: string[] = [];
  closed: Closed | undefined;
  /** Called with each frame as it arrives. */
  onFrame: (frame: ServerFrame) => void = () => undefined;
  private readonly waiters = new Set<FrameWaiter>();
  /** Waiters for replies, by `cmd_id`, so that a reply is checked by one of them and not by all. */
  private readonly awaitingReply = new Map<string, FrameWaiter>();
  private readonly ending: Promise<Closed>;
  private hasClosed = false;

  private constructor(
    private readonly ws: WebSocket,
    private readonly wire: Socket,
    private readonly options: StreamOptions,
  ) {
    this.memory = options.memory ?? new StreamMemory();
    ws.on('message', (data: Buffer) => this.onText(data.toString()));
    ws.on('pong', (data) => this.pongs.push(data.toString()));
    ws.on('error', () => undefined);
    this.ending = new Promise((resolve) => {
      ws.on('close', (code, reason) => {
        this.closed = { code, reason: reason.toString() };
        // A close by this side says nothing about the server.
        if (!this.hasClosed) observed.by?.closed(code);
        resolve(this.closed);
        for (const waiter of [...this.waiters, ...this.awaitingReply.values()])
          waiter.fail(this.failure('the stream ended'));
      });
    });
  }

  /** Rejects with UpgradeRefused if the handshake gets an HTTP response instead. */
  static open(baseUrl: string, options: StreamOptions = {}): Promise<StreamClient> {
    const { token, protocols = [], headers = {}, answersPings = true, withinMs } = options;
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return new Promise((resolve, reject) => {
      const ws = new WebSocket(`${baseUrl.replace(/^http/, 'ws')}/v1/stream`, [...protocols], {
        headers: { ...authorization, ...headers },
        perMessageDeflate: false,
        autoPong: answersPings,
        skipUTF8Validation: options.keepsNothing === true,
        ...(withinMs === undefined ? {} : { handshakeTimeout: withinMs }),
      });
      let client: StreamClient | undefined;
      // The first frames may arrive with the response to the handshake, so the listener must be attached now.
      ws.on('upgrade', ({ socket }) => (client = new StreamClient(ws, socket, options)));
      ws.on('open', () => {
        observed.by?.exchange({ ...HANDSHAKE, status: 101, headers: {}, body: '' });
        if (client !== undefined) resolve(client);
      });
      ws.on('unexpected-response', (_, response) => {
        refusalIn(response).then(reject, reject);
      });
      ws.on('error', reject);
    });
  }

  /** The subprotocol that the server chose. */
  get protocol(): string {
    return this.ws.protocol;
  }

  hello(fields: Fields = {}): Promise<Welcome> {
    return this.expect('welcome', this.ask('hello', fields));
  }

  /** Resumes from the position in the memory. */
  resume(fields: Fields = {}): Promise<Welcome> {
    const { token, seen } = this.memory;
    if (token === undefined) throw new Error('there is no token to resume with');
    return this.hello({ resume_token: token, seen, ...fields });
  }

  /** Resolves with the id of the subscription once its first snapshot is complete. */
  async subscribe(fields: Fields = { channel: 'auctions' }): Promise<string> {
    const { subscription_id: id } = await this.expect('subscribed', this.ask('subscribe', fields));
    await this.untilIt(() => this.memory.of(id).snapshots.length > 0, `the snapshot of ${id}`);
    return id;
  }

  subscribeTo(auctionId: string, fields: Fields = {}): Promise<string> {
    return this.subscribe({ channel: 'auction', auction_id: auctionId, ...fields });
  }

  /** Sends a command, with a new idempotency key unless one is given. Resolves with its reply. */
  command(type: string, fields: Fields = {}): Promise<Ack | Reject> {
    const reply = this.ask(type, { idempotency_key: randomUUID(), ...fields });
    return this.oneOf(['ack', 'reject'], reply);
  }

  /** Sends a message with a new `cmd_id`. Resolves with its reply, also if that is a refusal. */
  ask(type: string, fields: Fields = {}, cmdId: string = randomUUID()): Promise<ServerFrame> {
    const reply = new Promise<ServerFrame>((resolve, reject) => {
      const answered = (frame: ServerFrame): boolean => {
        resolve(frame);
        return true;
      };
      const leave = (): void => void this.awaitingReply.delete(cmdId);
      const waiter = this.waiter(`the reply to ${type}`, TIMEOUT_MS, { reject, check: answered, leave });
      if (waiter !== undefined) this.awaitingReply.set(cmdId, waiter);
    });
    this.say({ type, cmd_id: cmdId, ...fields });
    return reply;
  }

  say(message: Fields): void {
    this.sayText(JSON.stringify(message));
  }

  /** Sends a text frame. Bytes may be invalid UTF-8. */
  sayText(text: string | Buffer): void {
    observed.by?.frame('client', text.toString());
    this.ws.send(text, { binary: false }, () => undefined);
  }

  sayBinary(bytes: Buffer): void {
    this.ws.send(bytes, { binary: true }, () => undefined);
  }

  /** Resolves with the first matching frame, received already or later. */
  until(
    what: string,
    matches: (frame: ServerFrame) => boolean,
    withinMs: number = TIMEOUT_MS,
  ): Promise<ServerFrame> {
    const earlier = this.frames.find(matches);
    if (earlier !== undefined) return Promise.resolve(earlier);
    return new Promise((resolve, reject) => {
      this.wait(what, withinMs, reject, (frame) => {
        if (!matches(frame)) return false;
        resolve(frame);
        return true;
      });
    });
  }

  untilType<Type extends ServerFrame['type']>(
    type: Type,
    withinMs: number = TIMEOUT_MS,
  ): Promise<FrameOf<Type>> {
    const frame = this.until(type, (candidate) => candidate.type === type, withinMs);
    return this.expect(type, frame);
  }

  /** Resolves once the condition holds. Checks it now and after each frame. */
  untilIt(holds: () => boolean, what: string, withinMs: number = TIMEOUT_MS): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.wait(what, withinMs, reject, () => {
        if (!holds()) return false;
        resolve();
        return true;
      });
    });
  }

  async untilClosed(withinMs: number = TIMEOUT_MS): Promise<Closed> {
    let cancel: () => void = () => undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = CLOCK.after(withinMs, () => reject(this.failure(`still open after ${withinMs} ms`)));
    });
    try {
      return await Promise.race([this.ending, late]);
    } finally {
      cancel();
    }
  }

  /** Writes raw bytes to the TCP connection. */
  write(bytes: Buffer): void {
    this.wire.write(bytes);
  }

  /** Stops reading. Data stays in the buffers of the network until they are full, and pings get no answer. */
  stopReading(): void {
    this.ws.pause();
  }

  goOnReading(): void {
    this.ws.resume();
  }

  /** Resets the connection without a close frame, as when the machine of the client dies. */
  kill(): void {
    this.hasClosed = true;
    this.wire.resetAndDestroy();
  }

  /** With a close frame, but without `bye`. */
  async close(code = 1000): Promise<void> {
    this.hasClosed = true;
    this.ws.close(code);
    await this.untilClosed();
  }

  /** Leaves with a `bye`, after which quotes keep standing. */
  async bye(): Promise<void> {
    this.say({ type: 'bye', cmd_id: 'bye' });
    await this.untilClosed();
  }

  private onText(text: string): void {
    const frame = JSON.parse(text) as ServerFrame;
    observed.by?.frame('server', text);
    if (this.options.keepsNothing !== true) {
      this.texts.push(text);
      this.frames.push(frame);
      this.memory.note(frame);
    }
    this.onFrame(frame);
    if ('cmd_id' in frame) this.awaitingReply.get(frame.cmd_id)?.check(frame);
    for (const waiter of this.waiters) waiter.check(frame);
  }

  private expect<Type extends ServerFrame['type']>(
    type: Type,
    reply: Promise<ServerFrame>,
  ): Promise<FrameOf<Type>> {
    return this.oneOf([type], reply);
  }

  private async oneOf<Type extends ServerFrame['type']>(
    types: readonly Type[],
    reply: Promise<ServerFrame>,
  ): Promise<FrameOf<Type>> {
    const frame = await reply;
    const matches = (candidate: ServerFrame): candidate is FrameOf<Type> =>
      types.some((type) => type === candidate.type);
    if (matches(frame)) return frame;
    throw new Error(`${String(types)} was expected, received: ${JSON.stringify(frame)}`);
  }

  private wait(
    what: string,
    withinMs: number,
    reject: (error: Error) => void,
    check: (frame: ServerFrame) => boolean,
  ): void {
    const leave = (): void => {
      if (waiter !== undefined) this.waiters.delete(waiter);
    };
    const waiter = this.waiter(what, withinMs, { reject, check, leave });
    if (waiter !== undefined) this.waiters.add(waiter);
  }

  /** Creates a waiter that checks each frame until one matches, and fails if the time or the stream ends first. */
  private waiter(
    what: string,
    withinMs: number,
    { reject, check, leave }: WaiterCallbacks,
  ): FrameWaiter | undefined {
    if (this.closed !== undefined) {
      reject(this.failure(`waiting for ${what} on a stream that is closed`));
      return undefined;
    }
    const fail = (error: Error): void => {
      finish();
      reject(error);
    };
    const cancel = CLOCK.after(withinMs, () => fail(this.failure(`no ${what} in ${withinMs} ms`)));
    const finish = (): void => {
      cancel();
      leave();
    };
    return {
      fail,
      check: (frame) => {
        if (check(frame)) finish();
      },
    };
  }

  private failure(what: string): Error {
    const end = this.closed === undefined ? '' : ` (closed ${this.closed.code} ${this.closed.reason})`;
    const last = this.texts.slice(-FRAMES_IN_FAILURE).map((text) => text.slice(0, 300));
    return new Error(`${what}${end}; the last frames were\n${last.join('\n')}`);
  }
}

async function refusalIn(response: IncomingMessage): Promise<UpgradeRefused> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const status = response.statusCode ?? 0;
  const body = Buffer.concat(chunks).toString();
  observed.by?.exchange({ ...HANDSHAKE, status, headers: textHeaders(response.headers), body });
  return new UpgradeRefused(status, response.headers, body);
}
