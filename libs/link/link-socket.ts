import { WebSocket, type RawData } from 'ws';
import { MAX_FRAME_BYTES } from '#libs/auction/protocol/protocol.js';

/** What a link needs of a WebSocket: one of the ws package, or one whose network is simulated. */
export interface LinkSocket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(frame: string, sent?: () => void): void;
  close(code?: number): void;
  terminate(): void;
  /** Asks the other end for a sign of life, which comes as a `pong`. */
  ping(): void;
  on(event: 'open' | 'close' | 'ping' | 'pong', heed: () => void): unknown;
  on(event: 'message', heed: (data: RawData) => void): unknown;
  on(event: 'error', heed: (error: Error) => void): unknown;
}

/** Begins to open a connection; the socket tells what becomes of it. */
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
