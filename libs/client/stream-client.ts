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
  /** Shown in the Authorization header. */
  readonly token?: string;
  /** Offered as subprotocols, as a browser would. */
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Of an earlier socket, so that this one can go on with it. */
  readonly memory?: StreamMemory;
  /** Left away, nobody answers the pings of the server. */
  readonly answersPings?: false;
  /** For how long the handshake is waited for; unless given, for ever. */
  readonly withinMs?: number;
  /** For load, whose frames would fill the heap: leaves only replies and `onFrame`, and trusts the server's UTF-8. */
  readonly keepsNothing?: true;
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** A handshake that was answered with something else than a WebSocket. */
export class UpgradeRefused extends Error {
  constructor(
    readonly status: number,
    readonly headers: IncomingHttpHeaders,
    readonly text: string,
  ) {
    super(`the handshake was answered ${status} ${text}`);
  }
}

interface Waiter {
  readonly look: (frame: ServerFrame) => void;
  readonly fail: (error: Error) => void;
}

interface Wait {
  readonly reject: (error: Error) => void;
  /** Says whether this was the frame. */
  readonly look: (frame: ServerFrame) => boolean;
  /** Called once, when the wait is over in any way. */
  readonly leave: () => void;
}

const CLOCK = new SystemClock();
const HANDSHAKE = { method: 'GET', path: '/v1/stream', requestHeaders: {} };
const PATIENCE_MS = 15_000;
const TOLD_IN_A_FAILURE = 6;

/** One socket of the stream: says what it is told to, collects what it hears, and judges nothing. */
export class StreamClient {
  readonly frames: ServerFrame[] = [];
  /** The same, byte by byte. */
  readonly texts: string[] = [];
  readonly memory: StreamMemory;
  /** What the pongs of the protocol have brought back. */
  readonly pongs: string[] = [];
  closed: Closed | undefined;
  /** Called with each frame as it comes. */
  onFrame: (frame: ServerFrame) => void = () => undefined;
  private readonly waiters = new Set<Waiter>();
  /** Those who wait for the reply to a `cmd_id`, so that a reply is not looked at by all. */
  private readonly asking = new Map<string, Waiter>();
  private readonly ending: Promise<Closed>;
  private hasLeft = false;

  private constructor(
    private readonly ws: WebSocket,
    private readonly wire: Socket,
    private readonly options: StreamOptions,
  ) {
    this.memory = options.memory ?? new StreamMemory();
    ws.on('message', (data: Buffer) => this.heard(data.toString()));
    ws.on('pong', (data) => this.pongs.push(data.toString()));
    ws.on('error', () => undefined);
    this.ending = new Promise((resolve) => {
      ws.on('close', (code, reason) => {
        this.closed = { code, reason: reason.toString() };
        // What this side has ended says nothing of the other.
        if (!this.hasLeft) observed.by?.closed(code);
        resolve(this.closed);
        for (const waiter of [...this.waiters, ...this.asking.values()])
          waiter.fail(this.surprise('the stream ended'));
      });
    });
  }

  /** Fails with UpgradeRefused when the handshake is answered in any other way. */
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
      // The first frames may come with the answer to the handshake, so whoever listens must be there by then.
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

  /** Goes on with whatever the memory holds. */
  resume(fields: Fields = {}): Promise<Welcome> {
    const { token, seen } = this.memory;
    if (token === undefined) throw new Error('there is no token to go on with');
    return this.hello({ resume_token: token, seen, ...fields });
  }

  /** Resolves with the id of the subscription, when its first snapshot is complete. */
  async subscribe(fields: Fields = { channel: 'auctions' }): Promise<string> {
    const { subscription_id: id } = await this.expect('subscribed', this.ask('subscribe', fields));
    await this.untilIt(() => this.memory.of(id).snapshots.length > 0, `the snapshot of ${id}`);
    return id;
  }

  subscribeTo(auctionId: string, fields: Fields = {}): Promise<string> {
    return this.subscribe({ channel: 'auction', auction_id: auctionId, ...fields });
  }

  /** A command, and how it was answered; with a key of its own unless one is given. */
  command(type: string, fields: Fields = {}): Promise<Ack | Reject> {
    const reply = this.ask(type, { idempotency_key: randomUUID(), ...fields });
    return this.oneOf(['ack', 'reject'], reply);
  }

  /** Says it under a new `cmd_id` and resolves with the reply to that, whatever it is. */
  ask(type: string, fields: Fields = {}, cmdId: string = randomUUID()): Promise<ServerFrame> {
    const reply = new Promise<ServerFrame>((resolve, reject) => {
      const answered = (frame: ServerFrame): boolean => {
        resolve(frame);
        return true;
      };
      const leave = (): void => void this.asking.delete(cmdId);
      const waiter = this.waiter(`the reply to ${type}`, PATIENCE_MS, { reject, look: answered, leave });
      if (waiter !== undefined) this.asking.set(cmdId, waiter);
    });
    this.say({ type, cmd_id: cmdId, ...fields });
    return reply;
  }

  say(message: Fields): void {
    this.sayText(JSON.stringify(message));
  }

  /** Bytes are sent as text too, whether or not they are any. */
  sayText(text: string | Buffer): void {
    observed.by?.frame('client', text.toString());
    this.ws.send(text, { binary: false }, () => undefined);
  }

  sayBinary(bytes: Buffer): void {
    this.ws.send(bytes, { binary: true }, () => undefined);
  }

  /** The first frame of this kind among all that have come and will come. */
  until(
    what: string,
    isIt: (frame: ServerFrame) => boolean,
    withinMs: number = PATIENCE_MS,
  ): Promise<ServerFrame> {
    const known = this.frames.find(isIt);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      this.wait(what, withinMs, reject, (frame) => {
        if (!isIt(frame)) return false;
        resolve(frame);
        return true;
      });
    });
  }

  untilType<Type extends ServerFrame['type']>(
    type: Type,
    withinMs: number = PATIENCE_MS,
  ): Promise<FrameOf<Type>> {
    const frame = this.until(type, (given) => given.type === type, withinMs);
    return this.expect(type, frame);
  }

  /** As soon as it holds behind some frame; the first moment is now. */
  untilIt(holds: () => boolean, what: string, withinMs: number = PATIENCE_MS): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.wait(what, withinMs, reject, () => {
        if (!holds()) return false;
        resolve();
        return true;
      });
    });
  }

  async untilClosed(withinMs: number = PATIENCE_MS): Promise<Closed> {
    let cancel: () => void = () => undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = CLOCK.after(withinMs, () => reject(this.surprise(`still open after ${withinMs} ms`)));
    });
    try {
      return await Promise.race([this.ending, late]);
    } finally {
      cancel();
    }
  }

  /** Puts bytes on the wire, whatever they are. */
  write(bytes: Buffer): void {
    this.wire.write(bytes);
  }

  /** What arrives stays in the pipes of the network, until they are full. Pings are not answered meanwhile either. */
  stopReading(): void {
    this.ws.pause();
  }

  goOnReading(): void {
    this.ws.resume();
  }

  /** As when the machine of the client dies: nobody is told. */
  kill(): void {
    this.hasLeft = true;
    this.wire.resetAndDestroy();
  }

  /** With a close frame, but without `bye`. */
  async close(code = 1000): Promise<void> {
    this.hasLeft = true;
    this.ws.close(code);
    await this.untilClosed();
  }

  /** In order: quotes stand. */
  async bye(): Promise<void> {
    this.say({ type: 'bye', cmd_id: 'bye' });
    await this.untilClosed();
  }

  private heard(text: string): void {
    const frame = JSON.parse(text) as ServerFrame;
    observed.by?.frame('server', text);
    if (this.options.keepsNothing !== true) {
      this.texts.push(text);
      this.frames.push(frame);
      this.memory.note(frame);
    }
    this.onFrame(frame);
    if ('cmd_id' in frame) this.asking.get(frame.cmd_id)?.look(frame);
    for (const waiter of this.waiters) waiter.look(frame);
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
    const isIt = (given: ServerFrame): given is FrameOf<Type> => types.some((type) => type === given.type);
    if (isIt(frame)) return frame;
    throw new Error(`${String(types)} was expected, this came: ${JSON.stringify(frame)}`);
  }

  private wait(
    what: string,
    withinMs: number,
    reject: (error: Error) => void,
    look: (frame: ServerFrame) => boolean,
  ): void {
    const leave = (): void => {
      if (waiter !== undefined) this.waiters.delete(waiter);
    };
    const waiter = this.waiter(what, withinMs, { reject, look, leave });
    if (waiter !== undefined) this.waiters.add(waiter);
  }

  /** One who is told each frame until a look says that it is over, and fails when the time or the stream ends first. */
  private waiter(what: string, withinMs: number, { reject, look, leave }: Wait): Waiter | undefined {
    if (this.closed !== undefined) {
      reject(this.surprise(`waiting for ${what} on a stream that is closed`));
      return undefined;
    }
    const fail = (error: Error): void => {
      over();
      reject(error);
    };
    const cancel = CLOCK.after(withinMs, () => fail(this.surprise(`no ${what} in ${withinMs} ms`)));
    const over = (): void => {
      cancel();
      leave();
    };
    return {
      fail,
      look: (frame) => {
        if (look(frame)) over();
      },
    };
  }

  private surprise(what: string): Error {
    const end = this.closed === undefined ? '' : ` (closed ${this.closed.code} ${this.closed.reason})`;
    const last = this.texts.slice(-TOLD_IN_A_FAILURE).map((text) => text.slice(0, 300));
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
