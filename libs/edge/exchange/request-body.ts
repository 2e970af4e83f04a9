import type { IncomingMessage } from 'node:http';
import type { BodyFault, Connections } from '../server/connections.js';

export type BodyOutcome = Buffer | BodyFault | 'too-large';

const EMPTY = Buffer.alloc(0);

export function announcesBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The announced length; 0 without one. The parser refuses everything but digits. */
export function announcedBytes(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

/**
 * The whole body, or why there is none. Bytes are counted on arrival, because a chunked body announces no length. The time limit
 * is the server's `requestTimeout`, which comes back through `connections`.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  connections: Connections,
): Promise<BodyOutcome> {
  if (!announcesBody(request)) return Promise.resolve(EMPTY);
  if (announcedBytes(request) > maxBytes) return Promise.resolve('too-large');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: BodyOutcome): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      connections.onBodyFault(request, undefined);
      resolve(outcome);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) {
        request.pause();
        settle('too-large');
      } else chunks.push(chunk);
    };
    const onEnd = (): void => {
      const [first] = chunks;
      settle(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size));
    };
    const onClose = (): void => {
      settle('gone');
    };
    connections.onBodyFault(request, settle);
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}
