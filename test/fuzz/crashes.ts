import { Unanswered } from '#libs/client/api-client.js';
import { NotPutBack } from './accounts.js';
import type { Judge } from './judge.js';

interface Watched {
  readonly name: string;
  readonly pid: number;
}

/**
 * Notices that a process has ended, and after which batch. This ends the run: later findings would only reflect
 * the crash.
 */
export class Crashes {
  isOver = false;
  private readonly pids: ReadonlyMap<string, number>;

  constructor(
    private readonly cluster: { readonly file: { readonly processes: readonly Watched[] } },
    private readonly judge: Pick<Judge, 'add'>,
  ) {
    this.pids = new Map(cluster.file.processes.map(({ name, pid }) => [name, pid]));
  }

  /** `how` describes the latest batch. Undefined if it ended the run. */
  async watch<Result>(play: () => Promise<Result>, how: () => string): Promise<Result | undefined> {
    let result: Result | undefined;
    let fault: unknown;
    try {
      result = await play();
    } catch (error) {
      fault = error;
    }
    const ended = this.ended();
    for (const name of ended) this.judge.add(`crash: ${name} is another process`, how());
    this.isOver = ended.length > 0 || fault !== undefined;
    if (!this.isOver || ended.length > 0) return result;
    if (!isFound(fault)) throw fault;
    const promise = fault instanceof Unanswered ? 'a complete request has no answer: ' : '';
    this.judge.add(`${promise}${fault.message}`, how());
    return undefined;
  }

  private ended(): string[] {
    const there = this.cluster.file.processes.filter(({ pid }) => isThere(pid));
    const pids = new Map(there.map(({ name, pid }) => [name, pid]));
    return [...this.pids].flatMap(([name, pid]) => (pids.get(name) === pid ? [] : [name]));
  }
}

function isFound(error: unknown): error is Error {
  return error instanceof NotPutBack || error instanceof Unanswered;
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
