import type { IncomingMessage } from 'node:http';
import type { BodyFault, Connections } from '../server/connections.js';

export type BodyOutcome = Buffer | BodyFault | 'too-large';

const EMPTY = Buffer.alloc(0);

export function announcesBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The announced length, or 0 without one. Node's parser has refused anything but digits. */
export function announcedBytes(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

/**
 * Resolves with the whole body, or with the reason why there is none. Counts bytes on arrival, because a chunked body has no
 * announced length. Node enforces `requestTimeout`, and `connections` reports it.
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
    const finish = (outcome: BodyOutcome): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      connections.onBodyFault(request, undefined);
      resolve(outcome);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) {
        request.pause();
        finish('too-large');
      } else chunks.push(chunk);
    };
    const onEnd = (): void => {
      const [first] = chunks;
      finish(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size));
    };
    const onClose = (): void => {
      finish('gone');
    };
    connections.onBodyFault(request, finish);
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}
