/** The WebSocket as this library needs it; the adapter stands in the gateway. */
export interface StreamSocket {
  /** Bytes that are waiting to leave. */
  readonly buffered: number;
  /** `onWritten` runs when the frame has left the process, or never will. */
  send(text: string, onWritten?: () => void): void;
  /** What is sent until `uncork` leaves in as few packets as possible. */
  cork(): void;
  uncork(): void;
  ping(): void;
  /** Nothing more is read until `resume`. */
  pause(): void;
  resume(): void;
  close(code: number, reason: string): void;
  /** Ends the connection below, whatever has not left yet. */
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
