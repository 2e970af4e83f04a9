import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

const RESOLUTION_MS = 20;
const NANOS_PER_SECOND = 1e9;
const QUANTILES = [50, 99, 100] as const;

/** A registry of this process: its own figures, and the delay of its event loop since the last scrape. */
export function createMetrics(labels: Readonly<Record<string, string>>): Registry {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: RESOLUTION_MS });
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  new Gauge({
    name: 'event_loop_delay_seconds',
    help: 'Delay of the event loop beyond its sampling interval since the last scrape, by quantile (1 is the maximum)',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      for (const quantile of QUANTILES) {
        const nanos = Math.max(0, delay.percentile(quantile) - RESOLUTION_MS * 1e6);
        this.set({ quantile: String(quantile / 100) }, nanos / NANOS_PER_SECOND);
      }
      delay.reset();
    },
  });
  return registry;
}
