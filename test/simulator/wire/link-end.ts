import { WebSocket, type RawData } from 'ws';
import type { LinkSocket } from '#libs/link/link-socket.js';
import type { WireEnd } from './wire-end.js';

const STATES = { CONNECTING: WebSocket.CONNECTING, OPEN: WebSocket.OPEN, CLOSED: WebSocket.CLOSED } as const;
const NORMAL = 1000;
/** Control frames that a real socket answers by itself. */
const PING = '\u0000ping';
const PONG = '\u0000pong';

/** A link's socket on the simulated network. */
export class LinkEnd implements LinkSocket {
  private readonly heeds: {
    readonly open: (() => void)[];
    readonly close: (() => void)[];
    readonly ping: (() => void)[];
    readonly pong: (() => void)[];
    readonly message: ((data: RawData) => void)[];
    readonly error: ((error: Error) => void)[];
  } = { open: [], close: [], ping: [], pong: [], message: [], error: [] };

  constructor(private readonly end: WireEnd) {
    end.onOpen = () => {
      for (const heed of this.heeds.open) heed();
    };
    end.onText = (text) => {
      if (text === PING) {
        end.send(PONG);
        for (const heed of this.heeds.ping) heed();
        return;
      }
      if (text === PONG) {
        for (const heed of this.heeds.pong) heed();
        return;
      }
      const data = Buffer.from(text);
      for (const heed of this.heeds.message) heed(data);
    };
    end.onClose = () => {
      for (const heed of this.heeds.close) heed();
    };
    end.onFail = () => {
      for (const heed of this.heeds.error) heed(new Error('the connection could not be made'));
    };
  }

  get readyState(): number {
    return STATES[this.end.state];
  }

  get bufferedAmount(): number {
    return this.end.buffered;
  }

  send(frame: string, sent?: () => void): void {
    this.end.send(frame, sent);
  }

  close(code = NORMAL): void {
    this.end.close(code);
  }

  terminate(): void {
    this.end.terminate();
  }

  ping(): void {
    this.end.send(PING);
  }

  on(event: 'open' | 'close' | 'ping' | 'pong', heed: () => void): void;
  on(event: 'message', heed: (data: RawData) => void): void;
  on(event: 'error', heed: (error: Error) => void): void;
  on(event: 'open' | 'close' | 'ping' | 'pong' | 'message' | 'error', heed: (given: never) => void): void {
    const heeds: ((given: never) => void)[] = this.heeds[event];
    heeds.push(heed);
  }
}
