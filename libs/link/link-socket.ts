import { WebSocket, type RawData } from 'ws';
import { MAX_FRAME_BYTES } from './link-protocol.js';

/** The WebSocket as a link needs it: from the ws package, or on a simulated network. */
export interface LinkSocket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(frame: string, sent?: () => void): void;
  close(code?: number): void;
  terminate(): void;
  /** Sends a ping. The reply arrives as a `pong` event. */
  ping(): void;
  on(event: 'open' | 'close' | 'ping' | 'pong', handle: () => void): unknown;
  on(event: 'message', handle: (data: RawData) => void): unknown;
  on(event: 'error', handle: (error: Error) => void): unknown;
}

/** Starts to open a connection. The socket's events report the outcome. */
export type OpenLinkSocket = (url: string, headers: Readonly<Record<string, string>>) => LinkSocket;

const HANDSHAKE_MILLIS = 2_000;

export function openWebSocket(url: string, headers: Readonly<Record<string, string>>): LinkSocket {
  return new WebSocket(url, {
    headers,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    handshakeTimeout: HANDSHAKE_MILLIS,
    skipUTF8Validation: true,
  });
}

/** By default the ws package hands over a frame in one buffer; the other forms depend on its settings. */
export function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8');
}
