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
  /** The process has started with this pid. */
  started(pid: number): void;
  ended(how: string, restartInMs: number): void;
}

/** A process that is restarted whenever it ends, until it is told to stop. */
export class SupervisedChild {
  private process: ChildProcess | undefined;
  private exited: Promise<void> = Promise.resolve();
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
        // A session of its own, so that Ctrl-C in the terminal reaches only the launcher, which then stops all in order.
        detached: true,
        // Standard input stays open while the launcher lives. Its end tells the child to stop.
        stdio: ['pipe', descriptor, descriptor],
      }),
    );
    child.stdin?.on('error', () => undefined);
    this.process = child;
    this.exited = new Promise((resolve) => {
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

  /** Sends SIGTERM, and SIGKILL after `withinMs`. */
  async stop(withinMs: number): Promise<void> {
    this.stopping = true;
    this.cancelRestart?.();
    this.process?.kill('SIGTERM');
    const cancel = this.clock.after(withinMs, () => this.kill());
    await this.exited;
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

const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 5_000;
const HEALTHY_NANOS = 60_000_000_000n;

/** The wait before the next start: none at first, then doubling. A minute without an end resets it. */
export class BackOff {
  private failures = 0;

  /** `ranNanos`: how long the process was running before it ended. */
  next(ranNanos: bigint): number {
    if (ranNanos >= HEALTHY_NANOS) this.failures = 0;
    const wait = this.failures === 0 ? 0 : Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.failures - 1));
    this.failures += 1;
    return wait;
  }
}
