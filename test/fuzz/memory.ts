import { readFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '#libs/testing/eventually.js';
import { NodeInspector } from '#libs/testing/cluster/node-inspector.js';
import type { RunningCluster } from '#libs/testing/cluster/running-cluster.js';
import type { Books, State } from './state.js';

const OPENED = /^Debugger listening on (ws:\S+)$/gm;
const MEGABYTE = 1_048_576;
const HEAVY = ['gateway-0', 'gateway-1', 'owner-0', 'owner-1', 'owner-2'];
/** An owner remembers each answer that it has journaled. */
const BYTES_AN_EVENT = 16_384;
/** What a process may hold more in the end. */
const MOST_GROWN = 24 * MEGABYTE;
/** And in every single part of the run: what settles with time, or comes once, does not grow in each of them. */
const MOST_STEADY = MEGABYTE;

/** By process, in bytes. */
export type Sizes = ReadonlyMap<string, number>;

interface Part {
  readonly grown: Sizes;
  readonly events: number;
}

/** Looks from time to time what the processes of a cluster hold, and tells what comes and goes from what only comes. */
export class MemoryWatch {
  private readonly parts: Part[] = [];
  private last: { readonly sizes: Sizes; readonly state: State } | undefined;

  constructor(
    private readonly held: () => Promise<Sizes>,
    private readonly books: Pick<Books, 'look' | 'eventsSince'>,
  ) {}

  /** Each look but the first ends a part of the run. */
  async look(): Promise<void> {
    const { last, books } = this;
    const sizes = await this.held();
    this.last = { sizes, state: await books.look() };
    if (last === undefined) return;
    const events = (await books.eventsSince(last.state)).length;
    const grown = [...sizes].map(([name, bytes]) => [name, bytes - (last.sizes.get(name) ?? bytes)] as const);
    this.parts.push({ grown: new Map(grown), events });
  }

  /** How much more each process holds than at the first look. */
  grown(): Sizes {
    return this.each((growths) => growths.reduce((sum, growth) => sum + growth, 0));
  }

  /** By how much at least it has grown in each part. */
  steady(): Sizes {
    return this.each((growths) => Math.min(...growths));
  }

  /** What no process may do, in words. */
  faults(): string[] {
    const events = this.parts.map((part) => part.events);
    const all = events.reduce((sum, count) => sum + count, 0);
    const much = [...this.grown()]
      .filter(([name, bytes]) => bytes > MOST_GROWN + owed(name, all))
      .map(([name, bytes]) => `memory: ${name} holds ${inMegabytes(bytes)} more`);
    const steadily = [...this.steady()]
      .filter(([name, bytes]) => bytes > MOST_STEADY + owed(name, Math.max(...events)))
      .map(
        ([name, bytes]) => `memory: ${name} holds more and more, ${inMegabytes(bytes)} at least in each part`,
      );
    return [...much, ...steadily];
  }

  private each(of: (growths: readonly number[]) => number): Sizes {
    const names = [...(this.parts[0]?.grown.keys() ?? [])];
    return new Map(names.map((name) => [name, of(this.parts.map(({ grown }) => grown.get(name) ?? 0))]));
  }
}

/** Of those that much is asked of. */
export async function heapsOf(cluster: RunningCluster): Promise<Sizes> {
  const sizes = new Map<string, number>();
  for (const name of HEAVY) sizes.set(name, await heapOf(cluster, name));
  return sizes;
}

export function inMegabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(1)} MiB`;
}

function owed(name: string, events: number): number {
  return name.startsWith('owner') ? events * BYTES_AN_EVENT : 0;
}

/** What a process of the cluster holds when nothing is left that nobody needs, in bytes. */
async function heapOf(cluster: RunningCluster, name: string): Promise<number> {
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
