import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';

/** A message, or bytes that are not even a frame. */
export interface Frame {
  readonly form: 'text' | 'binary' | 'raw';
  readonly bytes: Buffer;
}

export interface Talk {
  readonly said: readonly Frame[];
  readonly heard: readonly string[];
  /** The close code; undefined if the stream goes on. */
  readonly code: number | undefined;
  /** Until the last frame was answered or the stream ended. */
  readonly millis: number;
}

const LAST = 'last';
const HANDSHAKE_WITHIN_MS = 5_000;
const PATIENCE_MS = 3_000;
/** An unfinished frame blocks the following ones, and with them the answer. */
const PATIENCE_WITH_RAW_MS = 250;
const BETWEEN_MS = 3;
/** Printable characters of any script. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u;
const CMD_ID = /"cmd_id":("(?:[^"\\]|\\.)*")/;
const CHANGING = /^(auction\.cancel|quote\.(submit|revise|withdraw|withdraw_all))$/;

/** One stream from its handshake until its last frame is answered or it ends; undefined if the handshake is refused. */
export async function talk(
  url: string,
  token: string,
  frames: readonly Frame[],
  repliesWithinMs: number,
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
  const isOver = (): boolean => code !== undefined || heard.some((text) => jsonIn(text).cmd_id === LAST);
  await until(isOver, isRaw ? PATIENCE_WITH_RAW_MS : PATIENCE_MS);
  const millis = performance.now() - began;
  const isSettled = (): boolean => isRaw || muteIn({ said, heard, code }).length === 0;
  await until(isSettled, repliesWithinMs);
  const told = { said, heard, code, millis };
  socket.terminate();
  await closed;
  return told;
}

/** What was refused, and whether nothing in it may have changed anything. */
export function refusalsIn({ said, heard, code }: Talk): {
  readonly refused: Frame[];
  readonly isRefused: boolean;
} {
  const replies = heard.map(jsonIn);
  const answered = new Set(replies.map(({ cmd_id: id }) => id));
  const rejected = new Set(replies.filter(({ type }) => type === 'reject').map(({ cmd_id: id }) => id));
  const types = new Map<unknown, string | undefined>(said.map((frame) => [replyTo(frame), typeOf(frame)]));
  const isDone = replies.some(
    ({ type, cmd_id: id }) => type === 'ack' && types.get(id) !== 'quote.preflight',
  );
  // If the stream has ended, an answer may have been lost.
  const hasLost = said.some((frame) => CHANGING.test(typeOf(frame) ?? '') && !answered.has(replyTo(frame)));
  return {
    refused: said.filter((frame) => rejected.has(replyTo(frame))),
    isRefused: !isDone && !(hasLost && code !== undefined),
  };
}

/** Frames with a request id that got no answer although the stream went on. */
export function muteIn({ said, heard, code }: Pick<Talk, 'said' | 'heard' | 'code'>): Frame[] {
  if (code !== undefined || said.some(({ form }) => form === 'raw')) return [];
  const replies = new Set(heard.map((text) => jsonIn(text).cmd_id));
  return said.filter(({ form, bytes }) => {
    const { cmd_id: name } = form === 'text' ? jsonIn(bytes.toString()) : {};
    return typeof name === 'string' && NAME.test(name) && !replies.has(name);
  });
}

/** Types of messages that got an answer other than a refusal. */
export function reachedIn({ said, heard }: Pick<Talk, 'said' | 'heard'>): readonly string[] {
  const good = heard.map(jsonIn).filter(({ type }) => type !== 'reject');
  const names = new Set(good.flatMap(({ cmd_id: id }) => (typeof id === 'string' ? id : [])));
  return said.flatMap((frame) => (names.has(replyTo(frame) ?? '') ? (typeOf(frame) ?? []) : []));
}

/** The type, if it can be read, even from an incomplete frame. */
export function typeOf({ bytes }: Frame): string | undefined {
  return /"type":"([\w.]+)"/.exec(bytes.toString())?.[1];
}

/** Empty if it is not an object. */
export function jsonIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const said: unknown = JSON.parse(text);
    return typeof said === 'object' && said !== null ? { ...said } : {};
  } catch {
    return {};
  }
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

function replyTo({ bytes }: Frame): string | undefined {
  const [, id] = CMD_ID.exec(bytes.toString()) ?? [];
  const { cmd_id: name } = id === undefined ? {} : jsonIn(`{"cmd_id":${id}}`);
  return typeof name === 'string' ? name : undefined;
}
