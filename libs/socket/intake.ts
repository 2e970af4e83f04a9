import type { StreamSocket } from './socket.js';

/**
 * What a client says, one message after the other, and read no faster than it can be answered: while it waits for an answer that
 * everything else depends on, or for too many answers, the socket is not read, and what had been read already is kept.
 */
export class Intake {
  private kept: string[] = [];
  private inFlight = 0;
  private isHeld = false;
  private isClosed = false;
  private whenAnswered: () => void = () => undefined;
  private isPaused = false;

  constructor(
    private readonly socket: StreamSocket,
    private readonly maxInFlight: number,
    private readonly receive: (frame: string) => void,
  ) {}

  /** While it does not, silence is not the client's fault. */
  get isReading(): boolean {
    return !this.isPaused;
  }

  take(frame: string): void {
    if (this.isClosed) return;
    if (this.mayReceive()) this.receive(frame);
    else this.kept.push(frame);
  }

  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    this.goOn();
  }

  /** One more answer is waited for, until `answered`. */
  awaitAnswer(): void {
    this.inFlight += 1;
    this.keepPace();
  }

  answered(): void {
    this.inFlight -= 1;
    if (this.inFlight === 0) this.whenAnswered();
    this.goOn();
  }

  /** Nothing that comes from now on is heard; resolves when what was is answered. */
  close(): Promise<void> {
    this.kept = [];
    this.isClosed = true;
    if (this.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.whenAnswered = resolve;
    });
  }

  /** Nobody listens any more. */
  end(): void {
    this.kept = [];
    this.isClosed = true;
  }

  private mayReceive(): boolean {
    return !this.isHeld && this.inFlight < this.maxInFlight;
  }

  private goOn(): void {
    while (this.mayReceive()) {
      const frame = this.kept.shift();
      if (frame === undefined) break;
      this.receive(frame);
    }
    this.keepPace();
  }

  private keepPace(): void {
    const isPaused = !this.mayReceive();
    if (isPaused === this.isPaused) return;
    this.isPaused = isPaused;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }
}
