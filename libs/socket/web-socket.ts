import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { StreamSocket } from '#libs/socket/socket.js';
import type { Departures } from './departures.js';

/** A WebSocket of the ws package with its TCP connection, because only the latter can cork. */
export class StreamWebSocket implements StreamSocket {
  /** The code with which this side closed, even if the other side has not read it. */
  closedWith: number | undefined;

  private lastPing: Buffer | undefined;

  constructor(
    private readonly ws: WebSocket,
    private readonly wire: Duplex,
    private readonly departures: Departures,
  ) {}

  get buffered(): number {
    return this.ws.bufferedAmount;
  }

  send(text: string, onWritten?: () => void): void {
    if (this.ws.readyState !== this.ws.OPEN) {
      onWritten?.();
      return;
    }
    this.departures.gather(this.wire);
    // A Buffer is faster: ws measures a string first, and the socket encodes it later.
    this.ws.send(Buffer.from(text), { binary: false }, onWritten);
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

  /** Answers only the last of several pings, which covers those before it (RFC 6455, 5.5.3). */
  pongTo(ping: Buffer): void {
    const isFirst = this.lastPing === undefined;
    this.lastPing = ping;
    if (isFirst) setImmediate(() => this.pong());
  }

  private pong(): void {
    const ping = this.lastPing;
    // A pong is sent only once the client has read the last one, so that pongs do not pile up.
    if (ping === undefined || this.ws.readyState !== this.ws.OPEN) return;
    this.ws.pong(ping, false, () => {
      const isNewer = this.lastPing !== ping;
      if (!isNewer) this.lastPing = undefined;
      else this.pong();
    });
  }

  pause(): void {
    this.ws.pause();
  }

  resume(): void {
    this.ws.resume();
  }

  close(code: number, reason: string): void {
    // A paused socket would never read the reply to a close frame.
    this.ws.resume();
    this.closedWith = code;
    this.ws.close(code, reason);
  }

  cut(): void {
    this.ws.terminate();
  }
}
