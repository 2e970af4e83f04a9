import { setTimeout as sleep } from 'node:timers/promises';
import { GATEWAYS, OWNERS } from './installation/plan.js';
import type { AnsweredCommand, Transcript } from './load/transcript.js';

const LOOK_EVERY_MS = 25;
/** Actions are frequent enough that each happens within this time wherever it can, on a slow machine too. */
const WITHIN_MS = 15_000;
const CREATED = 201;

/** What must succeed, not only be refused, through each gateway in each shard. */
const DEEDS = { CREATE: 'opens nothing', SUBMIT: 'takes no quotes' } as const;
type Deed = keyof typeof DEEDS;

/** The paths through a gateway into a shard on which something has not succeeded yet. */
export class Roads {
  private readonly untried = new Map<string, string>();

  constructor() {
    for (const gateway of GATEWAYS.keys())
      for (const shard of OWNERS.keys())
        for (const [deed, nothing] of Object.entries(DEEDS))
          this.untried.set(nameOf(deed, gateway, shard), `gateway-${gateway} ${nothing} in shard ${shard}`);
  }

  note({ command: { operation }, status, gateway, shard }: AnsweredCommand): void {
    if (status === CREATED && isDeed(operation)) this.untried.delete(nameOf(operation, gateway, shard));
  }

  get areOpen(): boolean {
    return this.untried.size === 0;
  }

  get closed(): string {
    return [...this.untried.values()].join(', ');
  }
}

function isDeed(operation: string): operation is Deed {
  return operation in DEEDS;
}

function nameOf(deed: string, gateway: number | undefined, shard: number): string {
  return `${deed} ${gateway} ${shard}`;
}

/** The path on which nothing succeeds for a while although users go on; undefined once all paths work. */
export async function impassable({ answered }: Pick<Transcript, 'answered'>): Promise<string | undefined> {
  const roads = new Roads();
  const deadline = performance.now() + WITHIN_MS;
  for (let next = answered.length; ;) {
    for (; next < answered.length; next += 1) {
      const answer = answered[next];
      if (answer !== undefined) roads.note(answer);
    }
    if (roads.areOpen) return undefined;
    if (performance.now() > deadline) return roads.closed;
    await sleep(LOOK_EVERY_MS);
  }
}
