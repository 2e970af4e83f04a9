/** The WebSocket as this library needs it. `StreamWebSocket` implements it with the ws package. */
export interface StreamSocket {
  /** Bytes that wait to be sent. */
  readonly buffered: number;
  /** `onWritten` runs when the frame has left the process, or when it is certain that it never will. */
  send(text: string, onWritten?: () => void): void;
  /** Frames sent until `uncork` leave in as few packets as possible. */
  cork(): void;
  uncork(): void;
  ping(): void;
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
  close(code: number, reason: string): void;
  /** Ends the TCP connection at once. Unsent data is lost. */
  cut(): void;
}

export const CLOSE = {
  done: 1000,
  badMessage: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  heartbeat: 4408,
  slowReader: 4431,
  draining: 4503,
} as const;
