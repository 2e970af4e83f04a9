import { connect } from 'node:net';

/** A request as bytes, whether it is one or not. */
export interface WireRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  /** It says that it is longer than it is: whoever waits for the rest is right to. */
  readonly isIncomplete: boolean;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly millis: number;
}

/**
 * What came of bytes that were not answered: the other end hung up, which it may on what is malformed, did so in the middle of its answer, or
 * did not come to the end of one in time.
 */
export type NoAnswer = 'CLOSED' | 'CUT OFF' | 'SILENCE';

/** Long enough for whatever is not lost. */
export const PATIENCE_MS = 5_000;
const INCOMPLETE_MS = 400;

export function bytesOf({ method, target, headers, body }: WireRequest): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1'), body]);
}

/** Sends bytes on a connection of their own. */
export function exchange(port: number, bytes: Buffer, isIncomplete: boolean): Promise<WireAnswer | NoAnswer> {
  return new Promise((resolve) => {
    const began = performance.now();
    const socket = connect({ host: '127.0.0.1', port });
    const chunks: Buffer[] = [];
    const isHead = bytes.subarray(0, 5).toString() === 'HEAD ';
    let isPatient = true;
    const timer = setTimeout(
      () => {
        isPatient = false;
        socket.destroy();
      },
      isIncomplete ? INCOMPLETE_MS : PATIENCE_MS,
    );
    socket.on('connect', () => socket.write(bytes));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (isWhole(Buffer.concat(chunks), isHead)) socket.destroy();
    });
    socket.on('close', () => {
      clearTimeout(timer);
      const received = Buffer.concat(chunks);
      const answer = answerIn(received, performance.now() - began);
      const isOver = isWhole(received, isHead) || (isPatient && endsWithConnection(received));
      if (answer !== undefined && isOver) resolve(answer);
      else if (!isPatient) resolve('SILENCE');
      else resolve(received.length > 0 ? 'CUT OFF' : 'CLOSED');
    });
  });
}

/** Nothing else says where it ends. */
function endsWithConnection(received: Buffer): boolean {
  const end = received.indexOf('\r\n\r\n');
  return end >= 0 && !/^(?:content-length|transfer-encoding):/im.test(received.toString('latin1', 0, end));
}

function isWhole(received: Buffer, isHead: boolean): boolean {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return false;
  if (isHead) return true;
  const head = received.subarray(0, end).toString('latin1');
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  if (length !== undefined) return received.length >= end + 4 + Number(length);
  return /^transfer-encoding: chunked$/im.test(head)
    ? received.subarray(-5).toString('latin1') === '0\r\n\r\n'
    : /^HTTP\/1\.1 (204|304|1\d\d)/.test(head);
}

function answerIn(received: Buffer, millis: number): WireAnswer | undefined {
  const end = received.indexOf('\r\n\r\n');
  const [line = '', ...fields] = received.subarray(0, Math.max(0, end)).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1] ?? 0);
  if (status === 0) return undefined;
  const headers: Record<string, string> = {};
  for (const field of fields) {
    const colon = field.indexOf(':');
    headers[field.slice(0, colon).toLowerCase()] = field.slice(colon + 1).trim();
  }
  // What follows is the answer to what the server took for a second request.
  const length = headers['content-length'];
  const body = received.subarray(end + 4, length === undefined ? undefined : end + 4 + Number(length));
  const isChunked = headers['transfer-encoding'] === 'chunked';
  return { status, headers, body: (isChunked ? unchunked(body) : body).toString(), millis };
}

function unchunked(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const end = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.subarray(at, end).toString('latin1'), 16);
    if (end < 0 || !(size > 0)) break;
    parts.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
