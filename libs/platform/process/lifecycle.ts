import type { Logger } from 'pino';
import { asDatabaseFault } from '../database/database-fault.js';
import { asStartFault, EXIT } from './start-fault.js';

type Stop = () => Promise<void> | void;

export interface ProcessScope {
  /** Parts stop one after the other, the last opened first. */
  onStop(name: string, stop: Stop): void;
  /** Aborted as soon as the process is asked to stop: readiness must report `draining` from then on. */
  readonly stopping: AbortSignal;
  /** Stops as if SIGTERM had come. */
  requestStop(reason: string): void;
  /** For a state in which continuing could do harm: nothing is flushed or announced. */
  failNow(error: unknown): never;
}

export interface ProcessOptions {
  readonly log: Logger;
  /** Started by the launcher: then standard input is a pipe from it, and its end means that the launcher is gone. */
  readonly supervised: boolean;
  readonly stopWithinMs?: number;
}

const STOP_WITHIN_MS = 7_000;

/** The frame of every process: signals, faults and the order of stopping; `main` returns when everything is up. */
export function runProcess(options: ProcessOptions, main: (scope: ProcessScope) => Promise<void>): void {
  new ProcessFrame(options).run(main);
}

class ProcessFrame implements ProcessScope {
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

  /** The kernel closes the pipe however the launcher ended. */
  private watchParent(): void {
    const gone = (): void => {
      this.requestStop('launcher gone');
    };
    process.stdin.on('end', gone).on('close', gone).on('error', gone).resume();
    process.on('disconnect', gone);
  }

  private async stopAll(): Promise<void> {
    // A stop during the start waits for it: a half-open part cannot be closed in order.
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
