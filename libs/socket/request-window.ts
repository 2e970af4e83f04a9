import type { StreamSocket } from './socket.js';

/**
 * Reads the messages of one client no faster than they are answered. While too many replies are missing, or one that
 * everything else depends on, the socket is paused, and frames that were read already wait.
 */
export class RequestWindow {
  private kept: string[] = [];
  private inFlight = 0;
  private isHeld = false;
  private isClosed = false;
  private isPaused = false;
  private whenAnswered: () => void = () => undefined;

  constructor(
    private readonly socket: Pick<StreamSocket, 'pause' | 'resume'>,
    private readonly maxInFlight: number,
    private readonly handle: (frame: string) => void,
  ) {}

  /** False while the socket is paused: then the client's silence is not its fault. */
  get isReading(): boolean {
    return !this.isPaused;
  }

  receive(frame: string): void {
    if (this.isClosed) return;
    if (this.isOpen()) this.handle(frame);
    else this.kept.push(frame);
  }

  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    this.handleKept();
  }

  /** Counts as one request in flight until it is done. `onFailed` has to answer it then. */
  run(task: () => Promise<void>, onFailed: (error: unknown) => void): void {
    this.inFlight += 1;
    this.keepPace();
    void this.follow(task, onFailed);
  }

  /** Reads nothing more. Resolves when all earlier messages are answered. */
  close(): Promise<void> {
    this.end();
    if (this.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.whenAnswered = resolve;
    });
  }

  /** Reads nothing more. */
  end(): void {
    this.kept = [];
    this.isClosed = true;
  }

  private async follow(task: () => Promise<void>, onFailed: (error: unknown) => void): Promise<void> {
    try {
      await task();
    } catch (error) {
      onFailed(error);
    } finally {
      this.inFlight -= 1;
      if (this.inFlight === 0) this.whenAnswered();
      this.handleKept();
    }
  }

  private isOpen(): boolean {
    return !this.isHeld && this.inFlight < this.maxInFlight;
  }

  private handleKept(): void {
    while (this.isOpen()) {
      const frame = this.kept.shift();
      if (frame === undefined) break;
      this.handle(frame);
    }
    this.keepPace();
  }

  private keepPace(): void {
    const isPaused = !this.isOpen();
    if (isPaused === this.isPaused) return;
    this.isPaused = isPaused;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }
}
