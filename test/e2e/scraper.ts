import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningCluster } from '#libs/testing/cluster/running-cluster.js';

/** Prometheus gives up after five seconds; an answer from memory needs far less. */
const ANSWERED_WITHIN_MS = 1_000;
const EVERY_MS = 1_000;

/** The result of one scrape: values by name and labels, without the instance's labels. */
export type Scrape = ReadonlyMap<string, number>;

/** Reads the metrics of processes as Prometheus does. */
export class Scraper {
  constructor(private readonly cluster: RunningCluster) {}

  /** Rejects if the metrics do not arrive within a second. */
  async scrape(process: string): Promise<Scrape> {
    const { metrics_url: url } = this.cluster.process(process);
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) });
    const rows = (await answer.text()).matchAll(/^(\w+)(?:\{([^}]*)\})? (\S+)$/gm);
    return new Map(
      [...rows].map(([, name = '', braces = '', value]) => {
        const labels = braces.split(',').filter((label) => !/^(?:instance|process)=/.test(label));
        return [`${name}{${labels.join(',')}}`, Number(value)];
      }),
    );
  }

  /** One scrape a second. */
  async scrapes(process: string, seconds: number): Promise<readonly Scrape[]> {
    const all: Scrape[] = [];
    for (let second = 0; second < seconds; second += 1) {
      all.push(await this.scrape(process));
      await sleep(EVERY_MS);
    }
    return all;
  }

  async readiness(process: string): Promise<string> {
    const { health_url: url } = this.cluster.process(process);
    const answer = await fetch(url.replace('/healthz', '/readyz'));
    return ((await answer.json()) as { readonly status: string }).status;
  }
}

/** The values of one series, scrape by scrape; undefined in a scrape without it. */
export function valuesOf(scrapes: readonly Scrape[], series: string): (number | undefined)[] {
  return scrapes.map((scrape) => scrape.get(series));
}
