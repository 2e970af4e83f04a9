import { defineConfig } from '../settings/config.js';
import { headerList, httpUrl, share } from '../settings/setting-types.js';

/**
 * All attributes of a span. The list is closed: readers of traces need not be allowed to know accounts, auctions, prices or tokens,
 * so there are no attributes for them, and none can get in by accident.
 */
export interface SpanFacts {
  readonly method?: string | undefined;
  /** The template of a path, never the path. */
  readonly route?: string;
  readonly status?: number;
  /** A documented error code. */
  readonly code?: string | undefined;
  /** The `X-Request-Id`, by which support finds the trace and the journal has the event. */
  readonly requestId?: string;
  readonly operation?: string;
  readonly shard?: number;
  /** For an append to the journal, which many commands share. */
  readonly records?: number;
  readonly firstSequence?: number;
  readonly attempt?: number;
  readonly outcome?: string;
}

/** One part of the work on one request, in one process. */
export interface Span {
  readonly traceId: string;
  /** How another process of ours continues the trace (W3C Trace Context). */
  readonly traceparent: string;
  rename(name: string): void;
  set(facts: SpanFacts): void;
  end(): void;
}

/**
 * Begins spans. `undefined` means that the request is not traced; then nothing else is built for it either, so callers compute
 * attributes only after `span?.`.
 */
export interface Tracing {
  /** The current span, unless it has ended. */
  readonly current: Span | undefined;
  /** The first span of a trace. Only here it is decided, at random, whether a request is traced. */
  root(name: string, kind: 'server' | 'internal'): Span | undefined;
  /** Continues the span of another process of ours, if the header is valid and traced. */
  continued(name: string, traceparent: unknown): Span | undefined;
  /** A part of `parent`, which is the current span unless it is given. */
  child(name: string, kind: 'client' | 'internal', parent?: Span): Span | undefined;
  /** Makes `span` the current one for everything that begins within `work`, however late. */
  within<T>(span: Span, work: () => T): T;
}

/** The attributes that describe the outcome of the work. */
export interface OutcomeFacts<T> {
  readonly done?: (result: T) => SpanFacts;
  readonly failed?: (error: unknown) => SpanFacts;
}

/** Runs the work, then sets its outcome on the span and ends it. */
export async function inSpan<T>(
  span: Span,
  work: () => T | Promise<T>,
  { done, failed }: OutcomeFacts<T> = {},
): Promise<T> {
  try {
    const result = await work();
    if (done !== undefined) span.set(done(result));
    return result;
  } catch (error) {
    if (failed !== undefined) span.set(failed(error));
    throw error;
  } finally {
    span.end();
  }
}

/** The default of every process without a collector: it keeps nothing and makes nothing. */
export const noTracing: Tracing = {
  current: undefined,
  root: () => undefined,
  continued: () => undefined,
  child: () => undefined,
  within: (_span, work) => work(),
};

/** For every process that handles commands; the names are OpenTelemetry's. */
export const tracingSettings = defineConfig({
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: httpUrl().optional(),
    describe: 'Base URL of the collector of traces (OTLP over HTTP); without it there are no traces',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: headerList().optional(),
    describe: 'Headers for the collector, such as `authorization=Bearer%20abc,x-tenant=a`',
    secret: true,
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: share(),
    describe: 'Share of requests that are traced, from 0 to 1; decided where a request enters',
    default: '1',
  },
});
