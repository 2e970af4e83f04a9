import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';

/** What is said: a message, or bytes that are not even a frame. */
export interface Frame {
  readonly form: 'text' | 'binary' | 'raw';
  readonly bytes: Buffer;
}

export interface Talk {
  readonly said: readonly Frame[];
  readonly heard: readonly string[];
  /** With which it was closed; undefined where it goes on. */
  readonly code: number | undefined;
  /** Until the last word was answered or the stream was over. */
  readonly millis: number;
  /** Until all that had a name was answered, or nobody waited any longer. */
  readonly settledMillis: number;
}

interface Reply {
  readonly type?: string;
  readonly cmd_id?: string;
}

const LAST = 'last';
const HANDSHAKE_WITHIN_MS = 5_000;
const PATIENCE_MS = 3_000;
/** A frame that was never finished keeps the rest waiting, and with it the answer. */
const PATIENCE_WITH_RAW_MS = 250;
const REPLIES_WITHIN_MS = 1_000;
const BETWEEN_MS = 3;
/** What prints, of whatever script. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u;
const CMD_ID = /"cmd_id":("(?:[^"\\]|\\.)*")/;
const CHANGING = /^(auction\.cancel|quote\.(submit|revise|withdraw|withdraw_all))$/;

/** One stream from its handshake until it has answered its last word or has ended; undefined where it is not let in. */
export async function talk(
  url: string,
  token: string,
  frames: readonly Frame[],
  repliesWithinMs = REPLIES_WITHIN_MS,
): Promise<Talk | undefined> {
  const socket = new WebSocket(url, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_WITHIN_MS,
  });
  const heard: string[] = [];
  let code: number | undefined;
  const closed = new Promise<number>((resolve) => socket.on('close', resolve)).then((end) => (code = end));
  socket.on('error', () => undefined);
  socket.on('message', (data: Buffer) => heard.push(data.toString()));
  const opened = new Promise<true>((resolve) => socket.on('open', () => resolve(true)));
  if ((await Promise.race([opened, closed])) !== true) return undefined;
  const said: Frame[] = [];
  for (const frame of frames) {
    if (socket.readyState !== WebSocket.OPEN) break;
    say(socket, frame);
    said.push(frame);
    await sleep(BETWEEN_MS);
  }
  const began = performance.now();
  socket.send(JSON.stringify({ type: 'ping', cmd_id: LAST }), () => undefined);
  const isRaw = said.some(({ form }) => form === 'raw');
  const isOver = (): boolean => code !== undefined || heard.some((text) => replyIn(text).cmd_id === LAST);
  await until(isOver, isRaw ? PATIENCE_WITH_RAW_MS : PATIENCE_MS);
  const millis = performance.now() - began;
  await until(
    () => code !== undefined || isRaw || muteIn({ said, heard, code }).length === 0,
    repliesWithinMs,
  );
  const told = { said, heard, code, millis, settledMillis: performance.now() - began };
  socket.terminate();
  await closed;
  return told;
}

/**
 * What of it was refused, what nobody has answered, and whether anything may have changed something. A single frame behind the greeting that is not
 * answered with an `ack` may not have; where another one may have ended the stream, the answer may have been on its way.
 */
export function refusalsIn({ said, heard }: Talk): {
  readonly refused: Frame[];
  readonly silent: Frame[];
  readonly isRefused: boolean;
} {
  const replies = heard.map(replyIn);
  const rejected = new Set(replies.filter(({ type }) => type === 'reject').map(({ cmd_id: id }) => id));
  const names = new Map(said.map((frame) => [replyTo(frame), typeOf(frame)]));
  const accepted = replies.filter(
    ({ type, cmd_id: id }) => type === 'ack' && names.get(id) !== 'quote.preflight',
  );
  const answered = new Set(replies.map(({ cmd_id: id }) => id));
  const [first] = said;
  const greetings = first !== undefined && typeOf(first) === 'hello' ? 1 : 0;
  const isAlone = said.length === greetings + 1;
  return {
    refused: said.filter((frame) => rejected.has(replyTo(frame))),
    silent: said.filter((frame) => !answered.has(replyTo(frame)) && typeOf(frame) !== 'hello'),
    isRefused: accepted.length === 0 && (isAlone || unanswered(said, heard).length === 0),
  };
}

/** What has a name to be answered by and was not, although the stream went on. */
export function muteIn({ said, heard, code }: Pick<Talk, 'said' | 'heard' | 'code'>): Frame[] {
  if (code !== undefined || said.some(({ form }) => form === 'raw')) return [];
  const replies = new Set(heard.map((text) => replyIn(text).cmd_id));
  return said.filter((frame) => {
    const name = nameOf(frame);
    return name !== undefined && !replies.has(name);
  });
}

/** Types of what was answered otherwise than by a refusal. */
export function reachedIn({ said, heard }: Pick<Talk, 'said' | 'heard'>): readonly string[] {
  const good = heard.map(replyIn).filter(({ type }) => type !== 'reject');
  const names = new Set(good.flatMap(({ cmd_id: id }) => id ?? []));
  return said.flatMap((frame) => (names.has(replyTo(frame) ?? '') ? (typeOf(frame) ?? []) : []));
}

/** Commands of which nobody knows what has become of them. */
function unanswered(said: readonly Frame[], heard: readonly string[]): Frame[] {
  const replies = new Set(heard.map((text) => replyIn(text).cmd_id));
  return said.filter((frame) => CHANGING.test(typeOf(frame) ?? '') && !replies.has(replyTo(frame)));
}

function say(socket: WebSocket, { form, bytes }: Frame): void {
  if (form !== 'raw') {
    socket.send(bytes, { binary: form === 'binary' }, () => undefined);
    return;
  }
  const { _socket: wire } = socket as WebSocket & { readonly _socket?: { write(bytes: Buffer): void } };
  wire?.write(bytes);
}

async function until(isSo: () => boolean, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!isSo() && performance.now() < deadline) await sleep(2);
}

/** As far as it can be read, whole or not. */
export function typeOf({ bytes }: Frame): string | undefined {
  return /"type":"([\w.]+)"/.exec(bytes.toString())?.[1];
}

function replyTo({ bytes }: Frame): string | undefined {
  const [, id] = CMD_ID.exec(bytes.toString()) ?? [];
  const name: unknown = id === undefined ? undefined : replyIn(`{"cmd_id":${id}}`).cmd_id;
  return typeof name === 'string' ? name : undefined;
}

/** Undefined for what nobody could answer. */
function nameOf({ form, bytes }: Frame): string | undefined {
  if (form !== 'text') return undefined;
  const said: unknown = replyIn(bytes.toString());
  const name = typeof said === 'object' && said !== null && 'cmd_id' in said ? said.cmd_id : undefined;
  return typeof name === 'string' && NAME.test(name) ? name : undefined;
}

/** Every word of the server is JSON, which its own check says where it is not so. */
function replyIn(text: string): Reply {
  try {
    return JSON.parse(text) as Reply;
  } catch {
    return {};
  }
}
