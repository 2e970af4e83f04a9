import { Counter, type Registry } from 'prom-client';
import type { Clock } from '../time/clock.js';
import type { Config } from '../settings/config.js';
import type { ProcessScope } from '../process/lifecycle.js';
import type { Logger } from '../process/log.js';
import type { processSettings } from '../settings/process-settings.js';
import { redactFields } from '../process/redact.js';
import type { OtlpTracing } from './otlp-tracing.js';
import { noTracing, type Tracing, type tracingSettings } from './tracing.js';

export interface TracingParts {
  readonly config: Config<typeof tracingSettings> & Pick<Config<typeof processSettings>, 'INSTANCE'>;
  readonly log: Logger;
  readonly registry: Registry;
  readonly scope: ProcessScope;
  readonly clock: Clock;
}

export interface OpenedTracing {
  readonly tracing: Tracing;
  /** A logger whose lines have the id of the current trace. */
  readonly log: Logger;
}

const EXPORT_WITHIN_MILLIS = 3_000;
/** Short enough for the launcher's shortest time to stop a process, together with its other work. */
const FLUSH_MILLIS = 500;

/**
 * Must be opened first, so that it is closed last. Loads the packages of OpenTelemetry only if there is a collector, because they
 * cost memory and time.
 */
export async function openTracing(app: string, parts: TracingParts): Promise<OpenedTracing> {
  const { config, log, registry, scope, clock } = parts;
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: share } = config;
  if (endpoint === undefined) return { tracing: noTracing, log };
  const { OtlpTracing: Otlp } = await import('./otlp-tracing.js');
  const tracing = new Otlp({
    endpoint,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    share,
    service: `sotto-${app}`,
    instance: config.INSTANCE,
    exportWithinMillis: EXPORT_WITHIN_MILLIS,
    clock,
    onFault: (error) => {
      log.warn({ err: error }, 'traces cannot be exported; their spans are dropped');
    },
  });
  count(tracing, registry);
  scope.onStop('traces', () => tracing.batches.stop(FLUSH_MILLIS));
  log.info({ collector: new URL(endpoint).origin, share }, 'requests are traced');
  return { tracing, log: withTraceIds(log, tracing) };
}

function withTraceIds(log: Logger, tracing: Tracing): Logger {
  const withTraceId = (fields: object): Record<string, unknown> => {
    const traceId = tracing.current?.traceId;
    return redactFields(traceId === undefined ? fields : { ...fields, trace_id: traceId });
  };
  return log.child({}, { formatters: { log: withTraceId } });
}

function count(tracing: OtlpTracing, registry: Registry): void {
  const total = (name: string, help: string, value: () => number): Counter =>
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(value());
      },
    });
  const { batches } = tracing;
  total('sotto_trace_spans_exported_total', 'Spans that the collector has accepted', () => batches.exported);
  total(
    'sotto_trace_spans_dropped_total',
    'Spans that were dropped: too many waited, or the collector could not be reached',
    () => batches.dropped,
  );
}
