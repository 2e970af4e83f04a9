import { readFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../eventually.js';
import { NodeInspector } from '../node-inspector.js';
import type { RunningCluster } from '../running-cluster.js';

const OPENED = /^Debugger listening on (ws:\S+)$/gm;

/** What a process of the cluster holds when nothing is left that nobody needs, in bytes. */
export async function heapOf(cluster: RunningCluster, name: string): Promise<number> {
  const { pid } = cluster.process(name);
  const log = path.join(cluster.dataDir, 'logs', `${name}.log`);
  process.kill(pid, 'SIGUSR1');
  const url = await eventually(() => {
    const [, found] = [...readFileSync(log, 'utf8').matchAll(OPENED)].at(-1) ?? [];
    if (found === undefined) throw new Error(`${name} has not opened its debugger`);
    return found;
  });
  const inspector = await NodeInspector.open(url);
  const bytes = await inspector.heapInUse();
  inspector.close();
  return bytes;
}
