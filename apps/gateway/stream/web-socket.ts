import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { StreamSocket } from '#libs/stream/socket.js';

/** A WebSocket of the ws package, and the connection below it, which alone can gather what is sent. */
export class StreamWebSocket implements StreamSocket {
  /** With what this side has closed it, whether or not the other side has ever read that. */
  closedWith: number | undefined;

  constructor(
    private readonly ws: WebSocket,
    private readonly wire: Duplex,
  ) {}

  get buffered(): number {
    return this.ws.bufferedAmount;
  }

  send(text: string, onWritten?: () => void): void {
    if (this.ws.readyState === this.ws.OPEN) this.ws.send(text, onWritten);
    else onWritten?.();
  }

  cork(): void {
    this.wire.cork();
  }

  uncork(): void {
    this.wire.uncork();
  }

  ping(): void {
    if (this.ws.readyState === this.ws.OPEN) this.ws.ping();
  }

  pause(): void {
    this.ws.pause();
  }

  resume(): void {
    this.ws.resume();
  }

  close(code: number, reason: string): void {
    // A close frame behind a pause would never be answered.
    this.ws.resume();
    this.closedWith = code;
    this.ws.close(code, reason);
  }
}
