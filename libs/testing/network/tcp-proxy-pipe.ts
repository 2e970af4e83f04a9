import type { Socket } from 'node:net';

/** One direction of a connection through the proxy. */
export class ProxyPipe {
  delay = 0;
  private swallowing = false;
  private held = false;
  /** Data that has arrived and was not passed on yet, oldest first. `undefined` is the end of the stream. */
  private waiting: (Buffer | undefined)[] = [];
  private timers = 0;

  constructor(
    private readonly from: Socket,
    private readonly to: Socket,
  ) {
    from.on('data', (chunk) => this.take(chunk));
    from.on('end', () => this.take(undefined));
    from.on('close', () => this.take(undefined));
    to.on('drain', () => from.resume());
  }

  /** From now on bytes are lost, and so is the end of the stream. */
  swallow(): void {
    this.swallowing = true;
    this.waiting = [];
  }

  hold(held: boolean): void {
    this.held = held;
    if (!held && this.timers === 0) this.flush();
  }

  private take(chunk: Buffer | undefined): void {
    if (this.swallowing) return;
    this.waiting.push(chunk);
    if (this.delay > 0 || this.timers > 0) {
      this.timers += 1;
      setTimeout(() => {
        this.timers -= 1;
        if (this.held) return;
        if (this.timers > 0) this.pass();
        else this.flush();
      }, this.delay);
    } else if (!this.held) {
      this.flush();
    }
  }

  private flush(): void {
    while (this.waiting.length > 0) this.pass();
  }

  private pass(): void {
    if (this.waiting.length === 0) return;
    const chunk = this.waiting.shift();
    if (this.to.destroyed || this.to.writableEnded) return;
    if (chunk === undefined) this.to.end();
    else if (!this.to.write(chunk)) this.from.pause();
  }
}
