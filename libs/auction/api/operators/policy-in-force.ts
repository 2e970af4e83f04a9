import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { OwnerRouter } from '../owner-router.js';

export interface InForcePorts {
  readonly owners: Pick<OwnerRouter, 'ask' | 'shards'>;
  readonly clock: Clock;
}

interface ShardStatus {
  readonly policy_version?: number;
}

const POLL_MILLIS = 25;
/** An owner that has not answered by then is frozen or away. It judges nothing until it has read the policy again. */
const PATIENCE_MILLIS = 1_000;

/** Waits until the owners apply a version of the policy, so that a caller can rely on a halt. */
export class PolicyInForce {
  constructor(private readonly ports: InForcePorts) {}

  /** Resolves when every owner that can be asked has this version, or when time is up. */
  async everywhere(version: number): Promise<void> {
    await Promise.all(this.ports.owners.shards.map((shard) => this.at(shard, version)));
  }

  private async at(shard: number, version: number): Promise<void> {
    const { clock } = this.ports;
    const deadline = clock.monotonicNanos() + BigInt(PATIENCE_MILLIS) * NANOS_PER_MILLI;
    for (;;) {
      const seen = await this.seenBy(shard, deadline);
      if (seen >= version || clock.monotonicNanos() >= deadline) return;
      await pause(clock, POLL_MILLIS);
    }
  }

  /** Does not wait for an owner that does not serve: it will start with the latest policy. */
  private async seenBy(shard: number, deadline: bigint): Promise<number> {
    const { clock, owners } = this.ports;
    const millisLeft = Number((deadline - clock.monotonicNanos()) / NANOS_PER_MILLI);
    const request = owners.ask(shard, { op: 'shard_status' });
    const reply = await Promise.race([request, pause(clock, Math.max(millisLeft, 0)).then(() => undefined)]);
    if (reply?.status !== 200) return Infinity;
    const { policy_version: seen } = JSON.parse(reply.body) as ShardStatus;
    return seen ?? 0;
  }
}
