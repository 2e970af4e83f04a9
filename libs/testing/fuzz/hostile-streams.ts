import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { messagesOf, type StreamMessage } from '#libs/edge/documents/asyncapi-types.js';
import { StreamCheck } from '../interface/stream-check.js';
import type { Random } from '../simulator/kernel/random.js';
import type { Judge } from './judge.js';
import { mutatedBytes, mutatedJson, mutatedText } from './mutations.js';
import { SchemaValues } from './schema-values.js';
import type { Target } from './target.js';

const FRAMES = { least: 1, most: 12 };
const PONG_WITHIN_MS = 1_000;
const BETWEEN_MS = 3;
/** It would take away what the others name. */
const SPARED: ReadonlySet<string> = new Set(['auction.cancel']);
const RAW = [
  '8f00',
  '83ffff',
  'c1850000000068656c6c6f',
  '81fe00',
  '8185000000',
  '89fe0100',
  '0105aaaa',
  '810568656c6c6f',
  '88028000',
];

/** The service away, or at fault: in this run nothing is. */
const OF_OUTAGES: ReadonlySet<number> = new Set([1011, 4503]);

interface Named {
  readonly type?: string;
  readonly cmd_id?: string;
}

/** Streams of people who do not keep to the protocol. */
export class HostileStreams {
  private readonly values: SchemaValues;
  private readonly messages: readonly StreamMessage[];
  private readonly check: StreamCheck;

  constructor(
    private readonly target: Target,
    private readonly judge: Judge,
    private readonly random: Random,
  ) {
    this.values = new SchemaValues(target.stream.components.schemas, target.known, random);
    this.messages = messagesOf(target.stream, 'receive').filter(({ name }) => !SPARED.has(name));
    this.check = new StreamCheck(target.stream);
  }

  /** One stream from its handshake to its end; how many frames were said. */
  async play(): Promise<number> {
    const { random, target } = this;
    const token = random.pick([...target.tokens.values()]);
    const socket = new WebSocket(`ws://127.0.0.1:${random.pick(target.ports)}/v1/stream`, {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
    });
    const heard: string[] = [];
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => heard.push(data.toString()));
    const opened = await Promise.race([
      new Promise<true>((resolve) => socket.on('open', () => resolve(true))),
      closed,
    ]);
    if (opened !== true) {
      this.judge.add('a good handshake is refused', 'stream');
      return 0;
    }
    const said = await this.talk(socket);
    await this.untilItAnswers(socket, heard, closed, said);
    socket.terminate();
    await closed;
    return said.length;
  }

  private async talk(socket: WebSocket): Promise<string[]> {
    const { random } = this;
    const said: string[] = [];
    if (random.chance(0.8)) said.push(this.say(socket, Buffer.from(this.hello()), false));
    for (let count = random.between(FRAMES.least, FRAMES.most); count > 0; count -= 1) {
      if (socket.readyState !== WebSocket.OPEN) break;
      said.push(this.frame(socket));
      await sleep(BETWEEN_MS);
    }
    return said;
  }

  private hello(): string {
    const { random, target } = this;
    const token = random.chance(0.5) ? target.resumeToken : mutatedText(target.resumeToken, random);
    return JSON.stringify({
      type: 'hello',
      cmd_id: 'h',
      ...(random.chance(0.5) ? { resume_token: token } : {}),
    });
  }

  private frame(socket: WebSocket): string {
    const { random } = this;
    const { payload } = random.pick(this.messages);
    const good = this.values.value(payload);
    const bytes = random.pick([
      () => Buffer.from(JSON.stringify(good)),
      () => this.named(good),
      () => this.named(good),
      () => this.named(good),
      () => (random.chance(0.3) ? mutatedJson(good, random) : this.named(good)),
      () => mutatedBytes(Buffer.from(JSON.stringify(good)), random),
      () => Buffer.from('x'.repeat(random.pick([1, 65_535, 70_000]))),
    ])();
    if (random.chance(0.05)) return this.raw(socket);
    return this.say(socket, bytes, random.chance(0.05));
  }

  /** Spoilt in everything but what it is called, so that it is read on and can be refused. */
  private named(good: unknown): Buffer {
    const { type, ...others } = { ...(good as Named) };
    const fields = Object.fromEntries(Object.entries(others).filter(([name]) => name !== 'cmd_id'));
    const name = `{"type":${JSON.stringify(type)},"cmd_id":"c${this.random.below(1_000)}"`;
    const rest = mutatedJson(fields, this.random).toString();
    return Buffer.from(rest.startsWith('{"') ? `${name},${rest.slice(1)}` : `${name}}`);
  }

  /** Not even a frame. */
  private raw(socket: WebSocket): string {
    const hex = this.random.pick(RAW);
    const { _socket: wire } = socket as WebSocket & { readonly _socket?: { write(bytes: Buffer): void } };
    wire?.write(Buffer.from(hex, 'hex'));
    return `raw ${hex}`;
  }

  private say(socket: WebSocket, bytes: Buffer, binary: boolean): string {
    socket.send(bytes, { binary }, () => undefined);
    return bytes.toString('latin1').slice(0, 300);
  }

  /** However it was spoken to, it goes on or ends at once; and what it has said is as documented. */
  private async untilItAnswers(
    socket: WebSocket,
    heard: readonly string[],
    closed: Promise<number>,
    said: readonly string[],
  ): Promise<void> {
    const how = `stream: ${said.join(' | ').slice(0, 1_500)}`;
    const began = performance.now();
    socket.send(JSON.stringify({ type: 'ping', cmd_id: 'last' }), () => undefined);
    let code: number | undefined;
    void closed.then((end) => (code = end));
    const isOver = (): boolean =>
      code !== undefined || heard.some((text) => text.includes('"cmd_id":"last"'));
    // A frame that was never finished keeps the rest waiting, and with it the answer.
    const patience = said.some((text) => text.startsWith('raw ')) ? PONG_WITHIN_MS / 4 : 3 * PONG_WITHIN_MS;
    while (!isOver() && performance.now() - began < patience) await sleep(2);
    const millis = performance.now() - began;
    if (millis > PONG_WITHIN_MS) this.judge.slow(millis, how);
    this.judge.count(code === undefined ? 'stream goes on' : `stream closed ${code}`);
    if (code !== undefined && OF_OUTAGES.has(code)) this.judge.add(`a stream ends with ${code}`, how);
    const frames = heard.map((text) => ({ direction: 'server' as const, text }));
    const ends = code === undefined ? [] : [{ closed: code }];
    for (const fault of this.check.faults([...frames, ...ends]))
      this.judge.add(`not as documented: ${fault}`, how);
  }
}
