import { setTimeout as sleep } from 'node:timers/promises';
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
  /** Somebody is gone for good: nobody can be asked anything more. */
  isOver = false;

  constructor(
    private readonly cluster: { readonly file: { readonly processes: readonly Watched[] } },
    private readonly judge: Pick<Judge, 'add'>,
    private readonly backWithinMillis = BACK_WITHIN_MS,
  ) {
    this.pids = this.look();
  }

  /** Whether all are those that there were at first. */
  get none(): boolean {
    return this.times === 0;
  }

  /** `how` says what was played last. */
  async watch(play: () => Promise<Verdict>, how: () => string): Promise<Verdict> {
    let verdict: Verdict = 'NOT AT ALL';
    let fault: Error | undefined;
    try {
      verdict = await play();
    } catch (error) {
      fault = error instanceof Error ? error : new Error(String(error));
      await this.calmsDown();
      if (!(await this.isWell())) {
        this.judge.add('crash: what has ended does not come back', how());
        this.isOver = true;
        this.times += 1;
        return verdict;
      }
    }
    const before = this.pids;
    this.pids = this.look();
    const others = [...this.pids].filter(([name, pid]) => before.get(name) !== pid);
    for (const [name] of others) this.judge.add(`crash: ${name} is another process`, how());
    this.times += others.length;
    if (fault !== undefined && others.length === 0) throw fault;
    return verdict;
  }

  /** Whoever has ended is started again; until then nobody can be asked anything. */
  private async calmsDown(): Promise<void> {
    const deadline = performance.now() + this.backWithinMillis;
    // What has just gone may still be taken for what was there.
    do await sleep(LOOK_EVERY_MS);
    while (!((await this.isWell()) && this.isNoted()) && performance.now() < deadline);
  }

  /** Who is back is ready a moment before the file of the cluster says which process it is. */
  private isNoted(): boolean {
    return [...this.look()].some(([name, pid]) => this.pids.get(name) !== pid);
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

  private look(): Map<string, number> {
    return new Map(this.cluster.file.processes.map(({ name, pid }) => [name, pid]));
  }
}
