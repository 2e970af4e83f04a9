import type { StreamSocket } from './socket.js';

/**
 * Reads the messages of one client no faster than they are answered. While too many replies are outstanding, or a caller blocks
 * the window, the socket is paused and frames that were already read wait.
 */
export class RequestWindow {
  private queued: string[] = [];
  private inFlight = 0;
  private isHeld = false;
  private isClosed = false;
  private isPaused = false;
  private onAllAnswered: () => void = () => undefined;

  constructor(
    private readonly socket: Pick<StreamSocket, 'pause' | 'resume'>,
    private readonly maxInFlight: number,
    private readonly handle: (frame: string) => void,
  ) {}

  /** False while the socket is paused, when the client cannot be blamed for silence. */
  get isReading(): boolean {
    return !this.isPaused;
  }

  receive(frame: string): void {
    if (this.isClosed) return;
    if (this.isOpen()) this.handle(frame);
    else this.queued.push(frame);
  }

  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    this.handleQueued();
  }

  /** Runs a task, which counts as one request in flight until it is done. If it fails, `onFailed` has to answer the request. */
  run(task: () => Promise<void>, onFailed: (error: unknown) => void): void {
    this.inFlight += 1;
    this.pauseOrResume();
    void this.runTask(task, onFailed);
  }

  /** Stops reading. Resolves when all earlier messages are answered. */
  close(): Promise<void> {
    this.end();
    if (this.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.onAllAnswered = resolve;
    });
  }

  /** Stops reading and discards frames that wait. */
  end(): void {
    this.queued = [];
    this.isClosed = true;
  }

  private async runTask(task: () => Promise<void>, onFailed: (error: unknown) => void): Promise<void> {
    try {
      await task();
    } catch (error) {
      onFailed(error);
    } finally {
      this.inFlight -= 1;
      if (this.inFlight === 0) this.onAllAnswered();
      this.handleQueued();
    }
  }

  private isOpen(): boolean {
    return !this.isHeld && this.inFlight < this.maxInFlight;
  }

  private handleQueued(): void {
    while (this.isOpen()) {
      const frame = this.queued.shift();
      if (frame === undefined) break;
      this.handle(frame);
    }
    this.pauseOrResume();
  }

  private pauseOrResume(): void {
    const isPaused = !this.isOpen();
    if (isPaused === this.isPaused) return;
    this.isPaused = isPaused;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }
}
