import type { Logger } from 'pino';
import { asDatabaseFault } from '../database/database-fault.js';
import { asStartFault, EXIT } from './start-fault.js';

type Stop = () => Promise<void> | void;

export interface ProcessScope {
  /** Parts stop one after the other, the last opened first. */
  onStop(name: string, stop: Stop): void;
  /** Aborted as soon as the process is asked to stop. Readiness must report `draining` from then on. */
  readonly stopping: AbortSignal;
  /** Stops as after SIGTERM. */
  requestStop(reason: string): void;
  /** Exits at once, if continuing could do harm. Flushes and announces nothing. */
  failNow(error: unknown): never;
}

export interface ProcessOptions {
  readonly log: Logger;
  /** True if the launcher started the process. The end of standard input then means that the launcher is gone. */
  readonly supervised: boolean;
  readonly stopWithinMs?: number;
}

const STOP_WITHIN_MS = 7_000;

/** Runs a process: handles signals and faults, and stops its parts in order. `main` resolves when everything is up. */
export function runProcess(options: ProcessOptions, main: (scope: ProcessScope) => Promise<void>): void {
  new ProcessLifecycle(options).run(main);
}

class ProcessLifecycle implements ProcessScope {
  private readonly stops: { readonly name: string; readonly stop: Stop }[] = [];
  private readonly controller = new AbortController();
  private started: Promise<void> = Promise.resolve();

  constructor(private readonly options: ProcessOptions) {}

  get stopping(): AbortSignal {
    return this.controller.signal;
  }

  onStop(name: string, stop: Stop): void {
    this.stops.push({ name, stop });
  }

  requestStop(reason: string): void {
    if (this.stopping.aborted) return;
    this.options.log.info({ reason }, 'stopping');
    this.controller.abort();
    const bound = this.options.stopWithinMs ?? STOP_WITHIN_MS;
    setTimeout(() => {
      this.options.log.error({ bound_ms: bound }, 'not stopped in time, leaving anyway');
      process.exit(EXIT.unavailable);
    }, bound).unref();
    void this.stopAll();
  }

  failNow(error: unknown): never {
    this.options.log.fatal({ err: error, exit_code: EXIT.bug }, 'cannot go on');
    process.exit(EXIT.bug);
  }

  run(main: (scope: ProcessScope) => Promise<void>): void {
    process.on('uncaughtException', (error) => this.failNow(error));
    process.on('unhandledRejection', (error) => this.failNow(error));
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(name, () => {
        this.requestStop(name);
      });
    }
    if (this.options.supervised) this.watchParent();
    this.started = main(this).catch((error: unknown) => this.refuse(error));
  }

  /** The kernel closes the pipe, however the launcher has ended. */
  private watchParent(): void {
    const onLauncherGone = (): void => {
      this.requestStop('launcher gone');
    };
    process.stdin.on('end', onLauncherGone).on('close', onLauncherGone).on('error', onLauncherGone).resume();
    process.on('disconnect', onLauncherGone);
  }

  private async stopAll(): Promise<void> {
    // Waits for the start to finish, because a part that is only half open cannot be stopped.
    await this.started;
    let code = 0;
    for (const { name, stop } of this.stops.toReversed()) {
      try {
        await stop();
      } catch (error) {
        code = EXIT.bug;
        this.options.log.error({ err: error, part: name }, 'stopping failed');
      }
    }
    this.options.log.info('stopped');
    process.exit(code);
  }

  private refuse(error: unknown): never {
    const fault = asStartFault(error) ?? asDatabaseFault(error, EXIT.bug);
    if (fault === undefined) return this.failNow(error);
    for (const line of fault.message.split('\n')) this.options.log.fatal({ exit_code: fault.exitCode }, line);
    process.exit(fault.exitCode);
  }
}
