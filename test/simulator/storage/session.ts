import type { Cancel } from '#libs/platform/time/clock.js';
import type { Host } from '../kernel/host.js';
import { NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import type { SimulatedDatabase } from './database.js';
import { DatabaseFault } from './database-fault.js';

const LOST = 'Connection terminated unexpectedly';
/** The value that the product's pools use. */
const IDLE_IN_TRANSACTION_MILLIS = 30_000;

/** One connection of a process to the server. Statements are executed, and answers delivered, in order. */
export class SimulatedSession {
  readonly pid: number;
  private readonly life: number;
  private lastArrival = 0;
  private lastAnswer = 0;
  private isOver = false;
  private queue: (() => void)[] = [];
  private isBusy = false;
  private giveUp: () => void = () => undefined;
  private onEnd: () => void = () => undefined;
  private idle: Cancel = () => undefined;

  constructor(
    readonly database: SimulatedDatabase,
    private readonly host: Host,
  ) {
    this.life = database.life;
    this.pid = database.nextPid();
    database.sessions.add(this);
    // The server notices and rolls back.
    host.whenDead(() => database.scheduler.after(database.delay(), undefined, () => this.end()));
  }

  /** Called on the server when the session ends, for whatever reason. */
  whenEnded(tell: () => void): void {
    this.onEnd = tell;
  }

  /** The process gives up the connection; statements already sent may still arrive. */
  abandon(): void {
    this.database.scheduler.after(this.database.delay(), undefined, () => this.end());
  }

  /**
   * Runs `work` on the server. `work` calls `done` at its end; an error that it throws or passes is the answer.
   * The statements of a process that has died may have arrived or not.
   */
  send<T>(work: (done: (outcome: T | Error) => void) => void): Promise<T> {
    const { database, host } = this;
    return new Promise((resolve, reject) => {
      const answer = (outcome: T | Error): void => {
        this.lastAnswer = Math.max(this.lastAnswer + 1, database.scheduler.now + database.delay());
        database.scheduler.after(this.lastAnswer - database.scheduler.now, host, () => {
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        });
      };
      this.lastArrival = Math.max(this.lastArrival + 1, database.scheduler.now + database.delay());
      database.scheduler.after(this.lastArrival - database.scheduler.now, undefined, () => {
        this.queue.push(() => this.carryOut(work, answer));
        this.goOn();
      });
    });
  }

  /** The server ends the session of an idle transaction. */
  waitAtMost(millis = IDLE_IN_TRANSACTION_MILLIS): void {
    this.idle();
    this.idle = this.database.scheduler.after(millis * NANOS_PER_MILLI, undefined, () => this.end());
  }

  waitNoMore(): void {
    this.idle();
  }

  /** The server is gone. Waiting callers get only that error. */
  breakOff(): void {
    this.end();
    this.giveUp();
  }

  private carryOut<T>(
    work: (done: (outcome: T | Error) => void) => void,
    answer: (outcome: T | Error) => void,
  ): void {
    const { database } = this;
    const fate = database.fate();
    let isDone = false;
    const done = (outcome: T | Error): void => {
      if (isDone) return;
      isDone = true;
      if (fate === 'BROKEN_BEHIND') this.end();
      answer(fate === 'BROKEN_BEHIND' ? new Error(LOST) : outcome);
      this.isBusy = false;
      this.goOn();
    };
    this.isBusy = true;
    this.giveUp = () => done(new Error(LOST));
    if (fate === 'BROKEN_BEFORE' || this.isOver || database.isDown || database.life !== this.life) {
      this.breakOff();
      return;
    }
    try {
      work(done);
    } catch (error) {
      done(error instanceof Error ? error : new DatabaseFault('XX000', String(error)));
    }
  }

  private goOn(): void {
    if (this.isBusy) return;
    this.queue.shift()?.();
  }

  private end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.database.sessions.delete(this);
    this.idle();
    this.onEnd();
  }
}
