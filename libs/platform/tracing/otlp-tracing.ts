import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  ROOT_CONTEXT,
  SpanKind,
  trace,
  TraceFlags,
  type Context,
  type Span as OtelSpan,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Clock } from '../time/clock.js';
import { hrTimeOf, OtlpSpan } from './otlp-span.js';
import { SpanBatches } from './span-batches.js';
import type { Span, Tracing } from './tracing.js';

export interface OtlpOptions {
  /** Base URL. Traces are sent to `/v1/traces` below it. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly share: number;
  readonly service: string;
  readonly instance: string;
  /** A batch that is not accepted within this time is dropped. Others wait meanwhile. */
  readonly exportWithinMillis: number;
  readonly clock: Clock;
  readonly onFault: (error: Error | undefined) => void;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/;
const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

/** Tracing with OpenTelemetry's SDK. Registers nothing globally, so that no package creates spans of its own. */
export class OtlpTracing implements Tracing {
  readonly batches: SpanBatches;
  private readonly tracer: Tracer;
  private readonly contexts = new AsyncLocalStorage<OtlpSpan>();
  private readonly clock: Clock;

  constructor(options: OtlpOptions) {
    this.clock = options.clock;
    const url = tracesUrl(options.endpoint);
    const agent = new (url.startsWith('https:') ? HttpsAgent : HttpAgent)({ keepAlive: true });
    const exporter = new OTLPTraceExporter({
      url,
      headers: options.headers,
      timeoutMillis: options.exportWithinMillis,
      httpAgentOptions: () => agent,
    });
    this.batches = new SpanBatches({
      exporter,
      clock: options.clock,
      // The exporter's own timeout is for silence, so it does not end a reply that never ends.
      patienceMillis: 2 * options.exportWithinMillis,
      giveUp: () => agent.destroy(),
      onFault: options.onFault,
    });
    const provider = new TracerProvider({
      resource: resourceFromAttributes({
        'service.namespace': 'sotto',
        'service.name': options.service,
        'service.instance.id': options.instance,
      }),
      // A process that continues a trace keeps the sampling decision of the first process.
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.share) }),
      spanProcessors: [this.batches],
    });
    this.tracer = provider.getTracer('sotto');
  }

  get current(): Span | undefined {
    const span = this.contexts.getStore();
    // Work that outlives its request, such as a timer or a connection, does not belong to the trace.
    return span?.isOpen === true ? span : undefined;
  }

  root(name: string, kind: 'server' | 'internal'): Span | undefined {
    return this.startSpan(name, KINDS[kind], ROOT_CONTEXT);
  }

  continued(name: string, traceparent: unknown): Span | undefined {
    const [, traceId, spanId] = typeof traceparent === 'string' ? (TRACEPARENT.exec(traceparent) ?? []) : [];
    if (traceId === undefined || spanId === undefined) return undefined;
    const remote = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
    if (!trace.isSpanContextValid(remote)) return undefined;
    return this.startSpan(name, SpanKind.SERVER, trace.setSpanContext(ROOT_CONTEXT, remote));
  }

  child(name: string, kind: 'client' | 'internal', parent = this.current): Span | undefined {
    if (!(parent instanceof OtlpSpan)) return undefined;
    return this.startSpan(name, KINDS[kind], trace.setSpan(ROOT_CONTEXT, parent.span));
  }

  within<T>(span: Span, work: () => T): T {
    return span instanceof OtlpSpan ? this.contexts.run(span, work) : work();
  }

  private startSpan(name: string, kind: SpanKind, parent: Context): Span | undefined {
    const start = { epoch: this.clock.epochNanos(), monotonic: this.clock.monotonicNanos() };
    const span: OtelSpan = this.tracer.startSpan(name, { kind, startTime: hrTimeOf(start.epoch) }, parent);
    return span.isRecording() ? new OtlpSpan(span, this.clock, start) : undefined;
  }
}

function tracesUrl(endpoint: string): string {
  return `${endpoint.replace(/\/+$/, '')}/v1/traces`;
}
