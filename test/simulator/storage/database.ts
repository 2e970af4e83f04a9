import { instantFromNanos } from '#libs/base/instant.js';
import type { Random } from '../kernel/random.js';
import type { Scheduler } from '../kernel/scheduler.js';
import { BEGINNING, NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import type { Trace } from '../kernel/trace.js';
import { DatabaseFault } from './database-fault.js';
import type { Statement, Statements } from './statement.js';
import { custodyStatements } from './statements/custody-statements.js';
import { policyStatements } from './statements/policy-statements.js';
import { preflightStatements } from './statements/preflight-statements.js';
import { projectionStatements } from './statements/projection-statements.js';
import { readingStatements } from './statements/reading-statements.js';
import { historyStatements } from './statements/history-statements.js';
import { witnessStatements } from './statements/witness-statements.js';
import { Tables } from './tables.js';
import type { Transaction } from './transaction.js';

export interface DatabaseMood {
  readonly slowestMillis: number;
  /** Chance that a statement takes a hundred times as long. */
  readonly stall: number;
  /** Chance that a connection breaks with a statement, before or after the server has executed it. */
  readonly cut: number;
}

const STATEMENTS: Statements = {
  ...projectionStatements,
  ...readingStatements,
  ...custodyStatements,
  ...policyStatements,
  ...preflightStatements,
  ...historyStatements,
  ...witnessStatements,
};
const FASTEST_NANOS = 100_000;
const STALL_FACTOR = 100;

interface Lock {
  holder: object;
  readonly waiting: { readonly who: object; readonly go: () => void }[];
}

/** The database server. Committed data survives everything; a restart ends all sessions and rolls back their work. */
export class SimulatedDatabase {
  readonly tables = new Tables();
  readonly met = new Map<string, number>();
  readonly sessions = new Set<{ readonly pid: number; breakOff(): void }>();
  isDown = false;
  /** Grows with every restart; sessions with an earlier number are gone. */
  life = 0;
  private commits = 0;
  private pids = 0;
  private readonly locks = new Map<string, Lock>();

  constructor(
    readonly scheduler: Scheduler,
    private readonly random: Random,
    private mood: DatabaseMood,
    private readonly trace: Trace,
    /** Called after a commit with the time at which its last statement was executed. */
    private readonly onCommit: (workedAt: string) => void,
  ) {}

  calm(): void {
    this.mood = { slowestMillis: 1, stall: 0, cut: 0 };
    this.isDown = false;
  }

  goDown(): void {
    this.trace.note('database: goes down');
    this.isDown = true;
    this.life += 1;
    for (const session of [...this.sessions]) session.breakOff();
    this.locks.clear();
  }

  comeBack(): void {
    this.trace.note('database: is back');
    this.isDown = false;
  }

  /** The id for a new session. */
  nextPid(): number {
    this.pids += 1;
    return this.pids;
  }

  /** An administrator ends a session or a login. */
  terminate(pid: number): void {
    for (const session of [...this.sessions]) if (session.pid === pid) session.breakOff();
  }

  epochNanos(): bigint {
    return BEGINNING + BigInt(Math.round(this.scheduler.now));
  }

  now(): string {
    return instantFromNanos(this.epochNanos());
  }

  delay(): number {
    const nanos = FASTEST_NANOS + this.random.next() * this.mood.slowestMillis * NANOS_PER_MILLI;
    if (!this.random.chance(this.mood.stall)) return nanos;
    this.met.set('STALLED', (this.met.get('STALLED') ?? 0) + 1);
    return nanos * STALL_FACTOR;
  }

  /** What happens to the connection that carries a statement. */
  fate(): 'BROKEN_BEFORE' | 'BROKEN_BEHIND' | undefined {
    const { cut } = this.mood;
    if (cut === 0 || !this.random.chance(cut)) return undefined;
    const fate = this.random.pick(['BROKEN_BEFORE', 'BROKEN_BEHIND'] as const);
    this.met.set(fate, (this.met.get(fate) ?? 0) + 1);
    return fate;
  }

  statement(name: string | undefined, text: string): Statement {
    const known = name === undefined ? undefined : STATEMENTS[name];
    if (known !== undefined) return known;
    const plain = text.replace(/\s+/g, ' ').trim();
    const found = Object.entries(STATEMENTS).find(([begins]) => plain.startsWith(begins));
    if (found === undefined) throw new Error(`the simulated database does not know this statement: ${plain}`);
    return found[1];
  }

  /** Calls back when `who` has all the locks. Locks are taken in order of name and waited for in turn. */
  lock(who: object, names: readonly string[], go: () => void): void {
    const [name, ...rest] = names;
    if (name === undefined) {
      go();
      return;
    }
    const lock = this.locks.get(name);
    const next = (): void => this.lock(who, rest, go);
    if (lock === undefined) this.locks.set(name, { holder: who, waiting: [] });
    if (lock === undefined || lock.holder === who) next();
    else lock.waiting.push({ who, go: next });
  }

  /** Only if it is free. */
  tryLock(who: object, name: string): boolean {
    const lock = this.locks.get(name);
    if (lock === undefined) this.locks.set(name, { holder: who, waiting: [] });
    return lock === undefined || lock.holder === who;
  }

  unlock(who: object): void {
    for (const [name, lock] of this.locks) {
      const waiting = lock.waiting.filter((other) => other.who !== who);
      lock.waiting.splice(0, lock.waiting.length, ...waiting);
      if (lock.holder !== who) continue;
      const next = lock.waiting.shift();
      if (next === undefined) {
        this.locks.delete(name);
        continue;
      }
      lock.holder = next.who;
      this.scheduler.after(0, undefined, next.go);
    }
  }

  commit(tx: Transaction, isSerializable = false): void {
    if (!tx.hasWritten) return;
    this.commits += 1;
    try {
      tx.commit(this.commits, isSerializable);
    } catch (error) {
      if (error instanceof DatabaseFault)
        this.met.set('SERIALIZATION', (this.met.get('SERIALIZATION') ?? 0) + 1);
      throw error;
    }
    this.onCommit(tx.workedAt);
  }
}
