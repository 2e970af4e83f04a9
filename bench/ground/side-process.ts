import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A baseline in a process of its own, as the product runs. Its first line of output is its port. */
export class SideProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  /** `script`: a file of bench/baselines. */
  static async start(script: string, args: readonly string[]): Promise<SideProcess> {
    const path = fileURLToPath(new URL(`../baselines/${script}.js`, import.meta.url));
    const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout });
    const [line] = (await Promise.race([
      once(lines, 'line'),
      once(child, 'exit').then(() => {
        throw new Error(`the baseline ${script} has ended`);
      }),
    ])) as [string];
    return new SideProcess(child, Number(line));
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }
}
