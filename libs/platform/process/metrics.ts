import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { timerDelay } from '../time/system-clock.js';

/** The client library's own metrics of the same facts, which are not exported. */
const SELDOM_MS = 3_600_000;
const NANOS_PER_SECOND = 1e9;
const QUANTILES = [50, 99, 100] as const;

/** A registry of this process: its own metrics, its limits, and the delay of its event loop since the last scrape. */
export function createMetrics(labels: Readonly<Record<string, string>>): Registry {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: SELDOM_MS });
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith('nodejs_eventloop_lag')) registry.removeSingleMetric(name);
  }
  tellLimits(registry);
  new Gauge({
    name: 'event_loop_delay_seconds',
    help: 'By how much the event loop was late for timers since the last scrape, by quantile (1 is the maximum)',
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

/** Both are constant while the process runs. Alerts use shares of them, so they hold for any deployment's limits. */
function tellLimits(registry: Registry): void {
  new Gauge({
    name: 'sotto_heap_limit_bytes',
    help: 'What the heap of JavaScript may grow to; the process ends when it is full',
    registers: [registry],
  }).set(getHeapStatistics().heap_size_limit);
  new Gauge({
    name: 'sotto_memory_limit_bytes',
    help: 'What the process may have in all: the limit of its container, or the memory of the machine',
    registers: [registry],
  }).set(memoryLimit());
}

/** Without a limit the kernel reports none, or one that no machine has. */
function memoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
