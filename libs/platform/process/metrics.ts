import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { timerDelay } from '../time/system-clock.js';

/** The client library measures the event loop too. That is not exported, so it samples as rarely as possible. */
const RARELY_MS = 3_600_000;
const NANOS_PER_SECOND = 1e9;
const QUANTILES = [50, 99, 100] as const;

/** Creates a registry with metrics of the process, its limits, and the delay of its event loop since the last scrape. */
export function createMetrics(labels: Readonly<Record<string, string>>): Registry {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: RARELY_MS });
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith('nodejs_eventloop_lag')) registry.removeSingleMetric(name);
  }
  addLimitGauges(registry);
  new Gauge({
    name: 'event_loop_delay_seconds',
    help: 'Delay of timers in the event loop since the last scrape, by quantile (1 is the maximum)',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      for (const quantile of QUANTILES) {
        this.set({ quantile: String(quantile / 100) }, timerDelay.percentile(quantile) / NANOS_PER_SECOND);
      }
      timerDelay.reset();
    },
  });
  return registry;
}

/** Adds limits, which are constant while the process runs. Alerts use shares of them, so they fit every deployment. */
function addLimitGauges(registry: Registry): void {
  new Gauge({
    name: 'sotto_heap_limit_bytes',
    help: 'Size to which the JavaScript heap may grow; the process ends when it is full',
    registers: [registry],
  }).set(getHeapStatistics().heap_size_limit);
  new Gauge({
    name: 'sotto_memory_limit_bytes',
    help: 'Memory that the process may use: the limit of its container, or the memory of the machine',
    registers: [registry],
  }).set(memoryLimit());
}

/** Without a limit the kernel reports zero or an impossibly large one. */
function memoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
