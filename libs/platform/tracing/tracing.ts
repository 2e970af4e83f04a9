import { defineConfig } from '../settings/config.js';
import { headerList, httpUrl, share } from '../settings/setting-types.js';

/**
 * All attributes that a span may have. Readers of traces may not be allowed to see accounts, auctions, prices or tokens, so there
 * are no attributes for them.
 */
export interface SpanFacts {
  readonly method?: string | undefined;
  /** The template of a path, never the path. */
  readonly route?: string;
  readonly status?: number;
  /** A documented error code. */
  readonly code?: string | undefined;
  /** The `X-Request-Id`, which leads to the trace and to the event in the journal. */
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
  /** The W3C `traceparent`, with which another process of ours continues the trace. */
  readonly traceparent: string;
  rename(name: string): void;
  set(facts: SpanFacts): void;
  end(): void;
}

/**
 * Creates spans. `undefined` means that the request is not traced. Callers should compute attributes only after `span?.`, so that
 * an untraced request costs nothing.
 */
export interface Tracing {
  /** The current span, unless it has ended. */
  readonly current: Span | undefined;
  /** Creates the first span of a trace. Decides at random whether the request is traced. */
  root(name: string, kind: 'server' | 'internal'): Span | undefined;
  /** Continues the span of another process of ours, if the header is valid and traced. */
  continued(name: string, traceparent: unknown): Span | undefined;
  /** Creates a span below `parent`, which is the current span by default. */
  child(name: string, kind: 'client' | 'internal', parent?: Span): Span | undefined;
  /** Makes `span` the current one for everything that `work` starts, also later. */
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

/** The default for a process without a collector. Creates no spans. */
export const noTracing: Tracing = {
  current: undefined,
  root: () => undefined,
  continued: () => undefined,
  child: () => undefined,
  within: (_span, work) => work(),
};

/** Settings of every process that handles commands. The names are OpenTelemetry's. */
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
