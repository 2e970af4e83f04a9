import { signal } from '../embedded-postgres/leftover.js';
import { pause, type Clock } from '../time/clock.js';
import { processesOf, type ClusterMarker } from './marker.js';

const POLL_MS = 50;

/**
 * Ends what an earlier launcher left behind. The caller holds the folder's lock, so these processes have no launcher any more
 * and are stopping by themselves; they only get no longer than `patienceMs` for it.
 */
export async function endLeftovers(marker: ClusterMarker, clock: Clock, patienceMs: number): Promise<number> {
  const found = await processesOf(marker);
  if (found.length === 0) return 0;
  for (let waited = 0; waited < patienceMs; waited += POLL_MS) {
    await pause(clock, POLL_MS);
    if ((await processesOf(marker)).length === 0) return found.length;
  }
  for (const pid of await processesOf(marker)) signal(pid, 'SIGKILL');
  return found.length;
}
