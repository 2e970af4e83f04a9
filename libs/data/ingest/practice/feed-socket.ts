import { WebSocket, type RawData } from 'ws';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import type { SocketAddress } from './protocol.js';

export interface FeedSocketPorts {
  readonly clock: Clock;
  /** Undefined if the venue has no socket for us. Called again later. */
  readonly address: () => Promise<SocketAddress | undefined>;
  /** Sent in addition to the pings of the socket itself, if the venue wants a message of its own. */
  readonly ping: string | undefined;
  readonly onOpen: () => void;
  readonly onFrame: (text: string) => void;
  readonly onClose: () => void;
}

const FIRST_MILLIS = 250;
const MOST_MILLIS = 10_000;
const HANDSHAKE_MILLIS = 5_000;
const PULSE_MILLIS = 2_000;
const MISSED_PULSES = 3;
const MOST_FRAME_BYTES = 4 * 1024 * 1024;
/** A connection that lasted this long was good: the next delay is short again. */
const LASTING_NANOS = 10_000_000_000n;

/** A socket to a venue that reconnects whenever it is lost. Delays grow, unless the last connection was good. */
export class FeedSocket {
  private socket: WebSocket | undefined;
  private delayMillis = FIRST_MILLIS;
  private openedAt: bigint | undefined;
  private missed = 0;
  private cancelReconnect: Cancel = () => undefined;
  private cancelPulse: Cancel = () => undefined;
  private isClosed = false;

  constructor(private readonly ports: FeedSocketPorts) {}

  get isOpen(): boolean {
    return this.openedAt !== undefined;
  }

  start(): void {
    this.connect().catch(() => this.reconnectLater());
  }

  close(): void {
    this.isClosed = true;
    this.cancelReconnect();
    this.cancelPulse();
    this.socket?.terminate();
  }

  /** Closes the connection and opens another. */
  restart(): void {
    this.socket?.terminate();
  }

  send(text: string): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(text);
  }

  private async connect(): Promise<void> {
    const address = await this.ports.address();
    if (this.isClosed) return;
    if (address === undefined) {
      this.reconnectLater();
      return;
    }
    const socket = new WebSocket(address.url, {
      headers: { ...address.headers },
      perMessageDeflate: false,
      maxPayload: MOST_FRAME_BYTES,
      handshakeTimeout: HANDSHAKE_MILLIS,
    });
    this.socket = socket;
    socket.on('open', () => this.opened());
    socket.on('message', (data) => {
      this.missed = 0;
      if (socket.readyState === WebSocket.OPEN) this.ports.onFrame(textOf(data));
    });
    socket.on('pong', () => {
      this.missed = 0;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => this.lost());
  }

  private opened(): void {
    this.openedAt = this.ports.clock.monotonicNanos();
    this.missed = 0;
    this.pulse();
    this.ports.onOpen();
  }

  private lost(): void {
    this.cancelPulse();
    const { openedAt } = this;
    this.openedAt = undefined;
    if (openedAt !== undefined) {
      if (this.ports.clock.monotonicNanos() - openedAt > LASTING_NANOS) this.delayMillis = FIRST_MILLIS;
      this.ports.onClose();
    }
    this.reconnectLater();
  }

  private reconnectLater(): void {
    if (this.isClosed) return;
    this.cancelReconnect = this.ports.clock.after(this.delayMillis, () => this.start());
    this.delayMillis = Math.min(this.delayMillis * 2, MOST_MILLIS);
  }

  /** A peer that vanished silently looks like a quiet connection, so pings test it. */
  private pulse(): void {
    this.cancelPulse = this.ports.clock.after(PULSE_MILLIS, () => {
      if (this.missed >= MISSED_PULSES) {
        this.restart();
        return;
      }
      this.missed += 1;
      this.socket?.ping();
      if (this.ports.ping !== undefined) this.send(this.ports.ping);
      this.pulse();
    });
  }
}

function textOf(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString('utf8');
  return Array.isArray(data) ? Buffer.concat(data).toString('utf8') : Buffer.from(data).toString('utf8');
}
