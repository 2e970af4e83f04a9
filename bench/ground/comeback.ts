import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '#libs/client/api-client.js';
import type { OwnedCluster } from '#libs/testing/cluster/cluster.js';

/** Times in seconds. */
export interface Comeback {
  readonly sinceKill: number;
  readonly sinceStart: number;
}

const POLL_MILLIS = 5;
const MILLIS_PER_SECOND = 1_000;

/** Kills a process of the cluster, and waits until it is ready again. */
export async function comebackOf(cluster: OwnedCluster, name: string): Promise<Comeback> {
  const former = cluster.process(name);
  const begun = performance.now();
  cluster.kill(name);
  while (cluster.process(name).pid === former.pid) await sleep(POLL_MILLIS);
  const started = performance.now();
  const { health_url: healthUrl } = cluster.process(name);
  const api = new ApiClient(healthUrl);
  for (;;) {
    const answer = await api.get('/readyz').catch(unlessRefused);
    if (answer?.status === 200) break;
    await sleep(POLL_MILLIS);
  }
  api.close();
  const now = performance.now();
  return { sinceKill: (now - begun) / MILLIS_PER_SECOND, sinceStart: (now - started) / MILLIS_PER_SECOND };
}

/** The process does not listen yet. */
function unlessRefused(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ECONNREFUSED') throw error;
}
