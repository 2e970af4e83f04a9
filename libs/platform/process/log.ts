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

/** How many characters are buffered while they cannot be written. */
const MAX_BUFFERED_CHARS = 1_048_576;

export interface LogOptions {
  readonly name: string;
  readonly level: LogLevel;
  /** Standard output by default. */
  readonly destination?: DestinationStream;
}

/** Writes JSON lines synchronously, because the last lines of a failing process matter most. */
export function createLogger(options: LogOptions): Logger {
  const log = pino(
    {
      level: options.level,
      base: { name: options.name, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => redactFields(fields) },
      serializers: {
        err: (error: unknown) => redact(error instanceof Error ? serializeError(error) : error),
      },
    },
    options.destination ?? standardOutput(),
  );
  redactBindings(log);
  return log;
}

/** Serializes an error. Its message includes those of its causes, but none twice. */
function serializeError(error: Error): object {
  const { cause } = error;
  const all = stdSerializers.err(error);
  if (!(cause instanceof Error) || cause.message === '' || !error.message.includes(cause.message)) return all;
  const causes = all.message.slice(error.message.length);
  const repeated = `: ${cause.message}`;
  const rest = causes.startsWith(repeated) ? causes.slice(repeated.length) : causes;
  return { ...all, message: error.message + rest };
}

/** On a full disk log lines are lost. That must neither end the process nor fill its memory. */
function standardOutput(): DestinationStream {
  const destination = pino.destination({ fd: 1, sync: true, maxLength: MAX_BUFFERED_CHARS });
  destination.on('error', () => undefined);
  return destination;
}

/** Redacts bindings of child loggers, which formatters do not see. Their children inherit this method. */
function redactBindings(log: Logger): void {
  const createChild: unknown = Reflect.get(log, 'child');
  if (typeof createChild !== 'function') return;
  Object.defineProperty(log, 'child', {
    value(this: Logger, bindings: Bindings, options?: ChildLoggerOptions): unknown {
      return Reflect.apply(createChild, this, [redactFields(bindings), options]);
    },
  });
}

/** The logger of one request, with the caller's `X-Request-Id`. */
export function forRequest(log: Logger, requestId: string): Logger {
  return log.child({ request_id: requestId });
}

export type OnFault = (what: string, error: unknown) => void;

const QUIET_NANOS = 10_000_000_000n;

/** Reports a lasting fault once and then every ten seconds, because a step that repeats quickly fails as often. */
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
