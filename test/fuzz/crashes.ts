import { setTimeout as sleep } from 'node:timers/promises';
import { Unanswered } from '#libs/client/api-client.js';
import { NotPutBack } from './furniture.js';
import type { Judge } from './judge.js';
import type { Verdict } from './stillness.js';

interface Watched {
  readonly name: string;
  readonly pid: number;
  readonly url?: string;
}

const BACK_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;

/**
 * Sees which process has ended, and behind what. A run must not end with it: it would tell of a connection that was refused, and neither of
 * the crash nor of the bytes that have led to it.
 */
export class Crashes {
  private pids: ReadonlyMap<string, number>;
  private times = 0;
  /** Somebody is gone for good, or nothing works any more: nobody can be asked anything that would mean something. */
  isOver = false;

  constructor(
    private readonly cluster: { readonly file: { readonly processes: readonly Watched[] } },
    private readonly judge: Pick<Judge, 'add' | 'hold' | 'letGo'>,
    private readonly backWithinMillis = BACK_WITHIN_MS,
  ) {
    this.pids = this.look();
  }

  /** Whether all are those that there were at first. */
  get none(): boolean {
    return this.times === 0;
  }

  /** `how` says what was played last. Where somebody has ended, that he is not there is no fault of its own. */
  async watch(play: () => Promise<Verdict>, how: () => string): Promise<Verdict> {
    let verdict: Verdict = 'NOT AT ALL';
    let fault: Error | undefined;
    this.judge.hold();
    try {
      verdict = await play();
    } catch (error) {
      const isFound = error instanceof NotPutBack || error instanceof Unanswered;
      if (isFound && this.others().length === 0) return this.end(error, how);
      fault = error instanceof Error ? error : new Error(String(error));
      await this.noted();
    }
    const others = this.others();
    this.pids = this.look();
    this.judge.letGo(others.length === 0);
    for (const name of others) this.judge.add(`crash: ${name} is another process`, how());
    this.times += others.length;
    if (others.length > 0) await this.comeBack(how);
    else if (fault !== undefined) throw fault;
    return verdict;
  }

  private end({ message }: Error, how: () => string): Verdict {
    this.judge.letGo(true);
    this.judge.add(message, how());
    this.isOver = true;
    return 'NOT AT ALL';
  }

  /** Who has ended has another in his place at once, or a moment later. */
  private async noted(): Promise<void> {
    const deadline = performance.now() + this.backWithinMillis;
    while (this.others().length === 0 && performance.now() < deadline) await sleep(LOOK_EVERY_MS);
  }

  /** Until whoever has begun is ready nobody can be asked anything. */
  private async comeBack(how: () => string): Promise<void> {
    const deadline = performance.now() + this.backWithinMillis;
    while (!(await this.isWell())) {
      if (performance.now() > deadline) {
        this.judge.add('crash: what has ended does not come back', how());
        this.isOver = true;
        return;
      }
      await sleep(LOOK_EVERY_MS);
    }
  }

  private async isWell(): Promise<boolean> {
    const urls = this.cluster.file.processes.flatMap(({ url }) => (url === undefined ? [] : [url]));
    const answers = urls.map((url) =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    return (await Promise.all(answers)).every(Boolean);
  }

  /** Who is not who was there. */
  private others(): string[] {
    return [...this.look()].flatMap(([name, pid]) => (this.pids.get(name) === pid ? [] : [name]));
  }

  private look(): Map<string, number> {
    return new Map(this.cluster.file.processes.map(({ name, pid }) => [name, pid]));
  }
}
