import { defineConfig } from '../settings/config.js';
import { headerList, httpUrl, share } from '../settings/setting-types.js';

/**
 * All that a span may say of itself. The list is closed: whoever reads traces is not thereby one who may know accounts, auctions,
 * prices or tokens, so there is no place for them here, and nothing gets into a trace by the way.
 */
export interface SpanFacts {
  readonly method?: string | undefined;
  /** The template of a path, never the path. */
  readonly route?: string;
  readonly status?: number;
  /** An error code of the documented ones. */
  readonly code?: string | undefined;
  /** The one of `X-Request-Id`, by which support finds the trace and the journal has the event. */
  readonly requestId?: string;
  readonly operation?: string;
  readonly shard?: number;
  /** Of an append to the journal, which many commands share. */
  readonly records?: number;
  readonly firstSequence?: number;
  readonly attempt?: number;
  readonly outcome?: string;
}

/** One stretch of the work on one request, in one process. */
export interface Span {
  readonly traceId: string;
  /** What another process of ours continues the trace by (W3C Trace Context). */
  readonly traceparent: string;
  rename(name: string): void;
  set(facts: SpanFacts): void;
  end(): void;
}

/**
 * Where spans begin. Each `undefined` stands for a request that is not traced; then nothing else is made for it either, so callers
 * spell out facts only behind `span?.`.
 */
export interface Tracing {
  /** The span in whose course this is called, unless that has ended. */
  readonly current: Span | undefined;
  /** The first span of a trace. Here alone it is decided, by lot, whether a request is traced. */
  root(name: string, kind: 'server' | 'internal'): Span | undefined;
  /** Goes on with what another process of ours has begun, if that is one and is traced. */
  continued(name: string, traceparent: unknown): Span | undefined;
  /** A part of `parent`, which is the current span unless it is given. */
  child(name: string, kind: 'client' | 'internal', parent?: Span): Span | undefined;
  /** Everything that begins in the course of `work`, however late, finds `span` as the current one. */
  within<T>(span: Span, work: () => T): T;
}

/** What a span is to say of how the work ended. */
export interface OutcomeFacts<T> {
  readonly done?: (result: T) => SpanFacts;
  readonly failed?: (error: unknown) => SpanFacts;
}

/** Does the work, then sets what came of it on the span and ends it. */
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

/** What every process has unless it is told where traces go: it keeps nothing and makes nothing. */
export const noTracing: Tracing = {
  current: undefined,
  root: () => undefined,
  continued: () => undefined,
  child: () => undefined,
  within: (_span, work) => work(),
};

/** Of every process through which commands go; the names are those that OpenTelemetry has given them. */
export const tracingSettings = defineConfig({
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: httpUrl().optional(),
    describe: 'Where traces go: base URL of a collector that takes OTLP over HTTP; without it there are none',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: headerList().optional(),
    describe: 'What is shown to the collector, like `authorization=Bearer%20abc,x-tenant=a`',
    secret: true,
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: share(),
    describe: 'The share of requests that are traced, from 0 to 1; decided where a request comes in',
    default: '1',
  },
});
