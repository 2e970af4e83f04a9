import type { ProcessContext, Scheduler } from './scheduler.js';

type Standing = 'RUNNING' | 'PAUSED' | 'DEAD';

/** Endless until the scheduler ends it. */
interface Standstill {
  readonly from: number;
  until: number;
}

/** One simulated process. Its actions wait while it is paused and never run after it has died. */
export class Host implements ProcessContext {
  private standing: Standing = 'RUNNING';
  private held: (() => void)[] = [];
  private readonly onDeath: (() => void)[] = [];
  private readonly standstills: Standstill[] = [];
  private endedAt = Infinity;
  /** Keeps the ends of turns of this process in order. */
  private lastTurn = 0;

  constructor(
    readonly name: string,
    private readonly scheduler: Scheduler,
  ) {}

  get isAlive(): boolean {
    return this.standing !== 'DEAD';
  }

  get isPaused(): boolean {
    return this.standing === 'PAUSED';
  }

  /** Whether the process was alive and not paused at that moment; a pause too short to notice does not count. */
  ranOn(at: number, unnoticed: number): boolean {
    const isAround = ({ from, until }: Standstill): boolean =>
      from <= at && at < until && until - from > unnoticed;
    return at < this.endedAt && !this.standstills.some(isAround);
  }

  /** Runs the action now, after the pause, or never if the process is dead. */
  run(action: () => void): void {
    if (this.standing === 'PAUSED') this.held.push(action);
    else if (this.standing === 'RUNNING') this.scheduler.enter(this, action);
  }

  /** Runs the action at the end of this turn of the event loop. */
  soon(action: () => void, afterNanos: number): void {
    const at = Math.max(this.lastTurn, this.scheduler.now + afterNanos);
    this.lastTurn = at;
    this.scheduler.after(at - this.scheduler.now, this, action);
  }

  pause(): void {
    if (this.standing !== 'RUNNING') return;
    this.standing = 'PAUSED';
    this.standstills.push({ from: this.scheduler.now, until: Infinity });
  }

  resume(): void {
    if (this.standing !== 'PAUSED') return;
    this.standing = 'RUNNING';
    this.standstills.at(-1)!.until = this.scheduler.now;
    for (const action of this.held.splice(0)) this.scheduler.after(0, this, action);
  }

  /** Like kill -9. */
  die(): void {
    if (this.standing === 'DEAD') return;
    this.standing = 'DEAD';
    this.endedAt = this.scheduler.now;
    this.held = [];
    for (const tell of this.onDeath.splice(0)) tell();
  }

  /** Runs on the machine once the process is gone: connections end, transactions are rolled back. */
  whenDead(tell: () => void): void {
    this.onDeath.push(tell);
  }
}
