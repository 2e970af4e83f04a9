import { type ChildProcess, spawn } from 'node:child_process';
import type { Cancel, Clock } from '../time/clock.js';
import type { Environment } from '../settings/config.js';
import type { LogFile } from './log-file.js';

export interface ChildSpec {
  readonly name: string;
  readonly script: string;
  readonly env: Environment;
}

export interface ChildEvents {
  /** From now on a process runs under this pid. */
  started(pid: number): void;
  ended(how: string, restartInMs: number): void;
}

/** A process that runs until it is told to stop: whenever it ends, it is restarted. */
export class SupervisedChild {
  private process: ChildProcess | undefined;
  private gone: Promise<void> = Promise.resolve();
  private cancelRestart: Cancel | undefined;
  private stopping = false;
  private startedNanos = 0n;
  private readonly backOff = new BackOff();

  constructor(
    readonly spec: ChildSpec,
    private readonly log: LogFile,
    private readonly clock: Clock,
    private readonly events: ChildEvents,
  ) {}

  start(): void {
    if (this.stopping) return;
    this.startedNanos = this.clock.monotonicNanos();
    const child = this.log.withDescriptor((descriptor) =>
      spawn(process.execPath, [this.spec.script], {
        env: { ...this.spec.env },
        // A separate session: Ctrl-C in the terminal reaches the launcher alone, which then stops us in order.
        detached: true,
        // Standard input stays open while the launcher lives; its end tells the child that it is alone.
        stdio: ['pipe', descriptor, descriptor],
      }),
    );
    child.stdin?.on('error', () => undefined);
    this.process = child;
    this.gone = new Promise((resolve) => {
      child.once('error', (error) => {
        resolve();
        if (child.pid === undefined) this.onEnd(error.message);
      });
      child.once('exit', (code, signal) => {
        resolve();
        this.onEnd(signal ?? `exit code ${code ?? 0}`);
      });
    });
    if (child.pid !== undefined) this.events.started(child.pid);
  }

  /** SIGTERM, then SIGKILL after `withinMs`. */
  async stop(withinMs: number): Promise<void> {
    this.stopping = true;
    this.cancelRestart?.();
    this.process?.kill('SIGTERM');
    const cancel = this.clock.after(withinMs, () => this.kill());
    await this.gone;
    cancel();
  }

  kill(): void {
    this.stopping = true;
    this.cancelRestart?.();
    this.process?.kill('SIGKILL');
  }

  private onEnd(how: string): void {
    this.process = undefined;
    if (this.stopping) return;
    const wait = this.backOff.next(this.clock.monotonicNanos() - this.startedNanos);
    this.cancelRestart = this.clock.after(wait, () => this.start());
    this.events.ended(how, wait);
  }
}

const FIRST_REPEAT_MS = 200;
const LONGEST_MS = 5_000;
const HEALTHY_NANOS = 60_000_000_000n;

/** The wait before the next start: none at first, then doubling; a healthy minute resets it. */
export class BackOff {
  private failures = 0;

  /** `ranNanos`: how long the ended process had been running. */
  next(ranNanos: bigint): number {
    if (ranNanos >= HEALTHY_NANOS) this.failures = 0;
    const wait = this.failures === 0 ? 0 : Math.min(LONGEST_MS, FIRST_REPEAT_MS * 2 ** (this.failures - 1));
    this.failures += 1;
    return wait;
  }
}
