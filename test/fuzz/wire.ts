import { connect } from 'node:net';

/** A request as bytes, valid or not. */
export interface WireRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  /** It may claim to be longer than it is; a server may wait for the rest. */
  readonly isIncomplete: boolean;
  /** Only this many bytes are sent. */
  readonly sent?: number;
  /** The connection is reset after this many milliseconds; below 0, at the first byte of the answer. */
  readonly leavesAfter?: number;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly millis: number;
}

/** The server closed the connection before or within its answer; there was none in time; or the caller left. */
export type NoAnswer = 'CLOSED' | 'CUT OFF' | 'SILENCE' | 'LEFT';

/** Long enough for any answer that is not lost. */
export const PATIENCE_MS = 5_000;
const INCOMPLETE_MS = 400;

export function bytesOf({ method, target, headers, body, sent }: WireRequest): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1');
  return Buffer.concat([head, body]).subarray(0, sent);
}

export function withHeader(request: WireRequest, name: string, value: string): WireRequest {
  return { ...request, headers: [...without(request, name).headers, [name, value]] };
}

export function without(request: WireRequest, name: string): WireRequest {
  return { ...request, headers: request.headers.filter(([each]) => each !== name) };
}

/** Without line ends, which would begin another header. */
export function clean(text: string): string {
  return text.replaceAll(/[\r\n]/g, '');
}

/** Sends a request on its own connection. */
export function exchange(port: number, request: WireRequest): Promise<WireAnswer | NoAnswer> {
  const { method, isIncomplete, leavesAfter } = request;
  return new Promise((resolve) => {
    const began = performance.now();
    const socket = connect({ host: '127.0.0.1', port });
    let received: Buffer = Buffer.alloc(0);
    let isPatient = true;
    const giveUp = (): void => {
      isPatient = false;
      socket.resetAndDestroy();
    };
    const timers = [setTimeout(giveUp, isIncomplete ? INCOMPLETE_MS : PATIENCE_MS)];
    socket.on('connect', () => {
      socket.write(bytesOf(request));
      if (leavesAfter !== undefined && leavesAfter >= 0) timers.push(setTimeout(giveUp, leavesAfter));
    });
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (leavesAfter !== undefined) giveUp();
      else if (isWhole(received, method === 'HEAD')) socket.destroy();
    });
    socket.on('close', () => {
      for (const timer of timers) clearTimeout(timer);
      const isOver = isWhole(received, method === 'HEAD') || (isPatient && endsWithConnection(received));
      if (leavesAfter !== undefined) resolve('LEFT');
      else if (isOver) resolve(answerIn(received, performance.now() - began));
      else if (!isPatient) resolve('SILENCE');
      else resolve(received.length > 0 ? 'CUT OFF' : 'CLOSED');
    });
  });
}

/** Only the end of the connection ends such an answer. */
function endsWithConnection(received: Buffer): boolean {
  const end = received.indexOf('\r\n\r\n');
  return end >= 0 && !/^(?:content-length|transfer-encoding):/im.test(received.toString('latin1', 0, end));
}

function isWhole(received: Buffer, isHead: boolean): boolean {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0 || isHead) return end >= 0;
  const head = received.toString('latin1', 0, end);
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  if (length !== undefined) return received.length >= end + 4 + Number(length);
  return /^transfer-encoding: chunked$/im.test(head)
    ? received.subarray(-5).toString('latin1') === '0\r\n\r\n'
    : /^HTTP\/1\.1 (204|304|1\d\d)/.test(head);
}

function answerIn(received: Buffer, millis: number): WireAnswer {
  const end = received.indexOf('\r\n\r\n');
  const [line = '', ...fields] = received.toString('latin1', 0, end).split('\r\n');
  const headers: Record<string, string> = {};
  for (const field of fields) {
    const colon = field.indexOf(':');
    headers[field.slice(0, colon).toLowerCase()] = field.slice(colon + 1).trim();
  }
  // What follows answers bytes that the server took for a second request.
  const length = headers['content-length'];
  const body = received.subarray(end + 4, length === undefined ? undefined : end + 4 + Number(length));
  const isChunked = headers['transfer-encoding'] === 'chunked';
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1] ?? 0);
  return { status, headers, body: (isChunked ? unchunked(body) : body).toString(), millis };
}

function unchunked(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const end = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.toString('latin1', at, end), 16);
    if (end < 0 || !(size > 0)) break;
    parts.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
