import {
  type Bindings,
  type ChildLoggerOptions,
  type DestinationStream,
  type Logger,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';
import { redact, redactFields } from './redact.js';
import type { Clock } from '../time/clock.js';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Characters that are kept while they cannot be written. */
const MAX_UNWRITTEN = 1_048_576;

export interface LogOptions {
  readonly name: string;
  readonly level: LogLevel;
  /** Standard output by default. */
  readonly destination?: DestinationStream;
}

/** JSON lines, written before the call returns: the last words of a dying process matter most. */
export function createLogger(options: LogOptions): Logger {
  const log = pino(
    {
      level: options.level,
      base: { name: options.name, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => redactFields(fields) },
      serializers: {
        err: (error: unknown) => redact(error instanceof Error ? serialised(error) : error),
      },
    },
    options.destination ?? standardOutput(),
  );
  redactBindings(log);
  return log;
}

/** Followed by the messages of its causes, unless it contains them. */
function serialised(error: Error): object {
  const { cause } = error;
  const all = stdSerializers.err(error);
  if (!(cause instanceof Error) || cause.message === '' || !error.message.includes(cause.message)) return all;
  const behind = all.message.slice(error.message.length);
  const repeated = `: ${cause.message}`;
  const rest = behind.startsWith(repeated) ? behind.slice(repeated.length) : behind;
  return { ...all, message: error.message + rest };
}

/** A full disk loses log lines; it must neither end the process nor fill its memory. */
function standardOutput(): DestinationStream {
  const destination = pino.destination({ fd: 1, sync: true, maxLength: MAX_UNWRITTEN });
  destination.on('error', () => undefined);
  return destination;
}

/** Formatters do not see a child logger's bindings; the children of children inherit this method. */
function redactBindings(log: Logger): void {
  const make: unknown = Reflect.get(log, 'child');
  if (typeof make !== 'function') return;
  Object.defineProperty(log, 'child', {
    value(this: Logger, bindings: Bindings, options?: ChildLoggerOptions): unknown {
      return Reflect.apply(make, this, [redactFields(bindings), options]);
    },
  });
}

/** The logger of one request; the id is the caller's `X-Request-Id`. */
export function forRequest(log: Logger, requestId: string): Logger {
  return log.child({ request_id: requestId });
}

export type OnFault = (what: string, error: unknown) => void;

const QUIET_NANOS = 10_000_000_000n;

/** Reports a lasting fault once, and then only now and then: a step that runs five times a second fails as often. */
export function quietly(onFault: OnFault, clock: Clock): OnFault {
  const reported = new Map<string, { readonly text: string; readonly at: bigint }>();
  return (what, error) => {
    const text = String(error);
    const last = reported.get(what);
    const now = clock.monotonicNanos();
    if (last?.text === text && now - last.at < QUIET_NANOS) return;
    reported.set(what, { text, at: now });
    onFault(what, error);
  };
}
