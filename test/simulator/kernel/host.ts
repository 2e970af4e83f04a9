import type { ProcessContext, Scheduler } from './scheduler.js';

type Standing = 'RUNNING' | 'PAUSED' | 'DEAD';

/** By the scheduler; without an end while it lasts. */
interface Standstill {
  readonly from: number;
  until: number;
}

/** One simulated process. What is to happen in it waits while it is paused and never happens once it is dead. */
export class Host implements ProcessContext {
  private standing: Standing = 'RUNNING';
  private held: (() => void)[] = [];
  private readonly onDeath: (() => void)[] = [];
  private readonly standstills: Standstill[] = [];
  private endedAt = Infinity;
  /** Nothing that this process does at the end of a turn comes before what it did so earlier. */
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

  /** Whether there is no standstill around that moment, or one too short for anybody in here to notice, before the process ends. */
  ranOn(at: number, unnoticed: number): boolean {
    const isAround = ({ from, until }: Standstill): boolean =>
      from <= at && at < until && until - from > unnoticed;
    return at < this.endedAt && !this.standstills.some(isAround);
  }

  /** Now, later, or never. */
  run(action: () => void): void {
    if (this.standing === 'PAUSED') this.held.push(action);
    else if (this.standing === 'RUNNING') this.scheduler.enter(this, action);
  }

  /** When everything has run that this turn of the event loop has to do. */
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

  /** As after kill -9. */
  die(): void {
    if (this.standing === 'DEAD') return;
    this.standing = 'DEAD';
    this.endedAt = this.scheduler.now;
    this.held = [];
    for (const tell of this.onDeath.splice(0)) tell();
  }

  /** What the machine does for a process that is gone: its connections end, its transactions are rolled back. */
  whenDead(tell: () => void): void {
    this.onDeath.push(tell);
  }
}
