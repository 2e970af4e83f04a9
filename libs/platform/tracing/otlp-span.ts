import { NANOS_PER_SECOND } from '#libs/base/instant.js';
import { SpanStatusCode, type HrTime, type Span as OtelSpan } from '@opentelemetry/api';
import type { Clock } from '../time/clock.js';
import type { Span, SpanFacts } from './tracing.js';

/** Attribute names, from OpenTelemetry's conventions where these have one. */
const ATTRIBUTES: Readonly<Record<keyof SpanFacts, string>> = {
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  code: 'error.type',
  requestId: 'sotto.request_id',
  operation: 'sotto.operation',
  shard: 'sotto.shard',
  records: 'sotto.journal.records',
  firstSequence: 'sotto.journal.first_sequence',
  attempt: 'sotto.attempt',
  outcome: 'sotto.outcome',
};
const FIRST_SERVER_ERROR = 500;

/** The same moment by both clocks. */
export interface SpanInstant {
  readonly epoch: bigint;
  readonly monotonic: bigint;
}

/** The SDK's own clock has milliseconds, which is too coarse for most of our work. */
export function hrTimeOf(epochNanos: bigint): HrTime {
  return [Number(epochNanos / NANOS_PER_SECOND), Number(epochNanos % NANOS_PER_SECOND)];
}

function isFact(name: string): name is keyof SpanFacts {
  return Object.hasOwn(ATTRIBUTES, name);
}

export class OtlpSpan implements Span {
  readonly traceId: string;
  readonly traceparent: string;
  constructor(
    readonly span: OtelSpan,
    private readonly clock: Clock,
    private readonly start: SpanInstant,
  ) {
    const { traceId, spanId } = span.spanContext();
    this.traceId = traceId;
    this.traceparent = `00-${traceId}-${spanId}-01`;
  }

  get isOpen(): boolean {
    return this.span.isRecording();
  }

  rename(name: string): void {
    this.span.updateName(name);
  }

  set(facts: SpanFacts): void {
    for (const [name, value] of Object.entries(facts) as [string, string | number | undefined][]) {
      // Checked at run time, because types alone do not keep other fields out.
      if (value !== undefined && isFact(name)) this.span.setAttribute(ATTRIBUTES[name], value);
    }
    // A refusal is an ordinary reply. Only a fault of the service is an error.
    if (facts.status !== undefined && facts.status >= FIRST_SERVER_ERROR) {
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
  }

  end(): void {
    // By the monotonic clock, so that the duration is right even if the wall clock was set.
    this.span.end(hrTimeOf(this.start.epoch + this.clock.monotonicNanos() - this.start.monotonic));
  }
}
