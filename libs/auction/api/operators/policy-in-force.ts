import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { OwnerRouter } from '../owner-router.js';

export interface InForcePorts {
  readonly owners: Pick<OwnerRouter, 'ask' | 'shards'>;
  readonly clock: Clock;
}

interface Told {
  readonly policy_version?: number;
}

const LOOK_EVERY_MILLIS = 25;
/** An owner that has not told by then is frozen or away; it judges nothing until it has looked at the policy again. */
const PATIENCE_MILLIS = 1_000;

/** Waits until owners judge by a policy, so that who is told of a halt can rely on it. */
export class PolicyInForce {
  constructor(private readonly ports: InForcePorts) {}

  /** Every owner that can be asked has seen this version, or the patience is over. */
  async everywhere(version: number): Promise<void> {
    await Promise.all(this.ports.owners.shards.map((shard) => this.at(shard, version)));
  }

  private async at(shard: number, version: number): Promise<void> {
    const { clock } = this.ports;
    const deadline = clock.monotonicNanos() + BigInt(PATIENCE_MILLIS) * NANOS_PER_MILLI;
    for (;;) {
      const seen = await this.seenBy(shard, deadline);
      if (seen >= version || clock.monotonicNanos() >= deadline) return;
      await pause(clock, LOOK_EVERY_MILLIS);
    }
  }

  /** Of an owner that does not serve there is nothing to wait for: when it does, it begins with the newest policy. */
  private async seenBy(shard: number, deadline: bigint): Promise<number> {
    const { clock, owners } = this.ports;
    const left = Number((deadline - clock.monotonicNanos()) / NANOS_PER_MILLI);
    const asked = owners.ask(shard, { op: 'shard_status' });
    const reply = await Promise.race([asked, pause(clock, Math.max(left, 0)).then(() => undefined)]);
    if (reply?.status !== 200) return Infinity;
    const { policy_version: seen } = JSON.parse(reply.body) as Told;
    return seen ?? 0;
  }
}
