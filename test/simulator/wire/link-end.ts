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
  private readonly listeners: {
    readonly open: (() => void)[];
    readonly close: (() => void)[];
    readonly ping: (() => void)[];
    readonly pong: (() => void)[];
    readonly message: ((data: RawData) => void)[];
    readonly error: ((error: Error) => void)[];
  } = { open: [], close: [], ping: [], pong: [], message: [], error: [] };

  constructor(private readonly end: WireEnd) {
    end.onOpen = () => {
      for (const callback of this.listeners.open) callback();
    };
    end.onText = (text) => {
      if (text === PING) {
        end.send(PONG);
        for (const callback of this.listeners.ping) callback();
        return;
      }
      if (text === PONG) {
        for (const callback of this.listeners.pong) callback();
        return;
      }
      const data = Buffer.from(text);
      for (const callback of this.listeners.message) callback(data);
    };
    end.onClose = () => {
      for (const callback of this.listeners.close) callback();
    };
    end.onFail = () => {
      for (const callback of this.listeners.error) callback(new Error('the connection could not be made'));
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

  on(event: 'open' | 'close' | 'ping' | 'pong', callback: () => void): void;
  on(event: 'message', callback: (data: RawData) => void): void;
  on(event: 'error', callback: (error: Error) => void): void;
  on(
    event: 'open' | 'close' | 'ping' | 'pong' | 'message' | 'error',
    callback: (given: never) => void,
  ): void {
    const listeners: ((given: never) => void)[] = this.listeners[event];
    listeners.push(callback);
  }
}
