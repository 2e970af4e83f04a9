import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { OpenSocketCount } from '../protocol/cell-protocol.js';

interface Gateway {
  heardAt: number;
  readonly open: Map<string, number>;
}

const SOCKETS = 10;
/** The sockets of a gateway that has reported nothing for this time count as closed. */
const LEASE_MILLIS = 5_000;

/** Counts each user's sockets at all gateways. After a restart, gateways report theirs within a second. */
export class OpenSockets {
  private readonly gateways = new Map<string, Gateway>();

  constructor(
    private readonly clock: Clock,
    private readonly factor: number,
  ) {}

  get max(): number {
    return SOCKETS * this.factor;
  }

  countOf(user: string): number {
    const oldest = this.now() - LEASE_MILLIS;
    let count = 0;
    for (const { heardAt, open } of this.gateways.values())
      if (heardAt > oldest) count += open.get(user) ?? 0;
    return count;
  }

  /** Sets the number of the user's sockets at one gateway. Returns false if that exceeds the limit. */
  change(gateway: string, { user_id, open }: OpenSocketCount): boolean {
    const known = this.gateways.get(gateway) ?? { heardAt: 0, open: new Map<string, number>() };
    known.heardAt = this.now();
    this.gateways.set(gateway, known);
    const before = known.open.get(user_id) ?? 0;
    if (open > before && this.countOf(user_id) - before + open > this.max) return false;
    if (open === 0) known.open.delete(user_id);
    else known.open.set(user_id, open);
    return true;
  }

  /** Replaces the counts of one gateway. */
  heard(gateway: string, sockets: readonly OpenSocketCount[]): void {
    const heardAt = this.now();
    this.gateways.set(gateway, {
      heardAt,
      open: new Map(sockets.map(({ user_id, open }) => [user_id, open])),
    });
    for (const [name, { heardAt: at }] of this.gateways)
      if (at <= heardAt - LEASE_MILLIS) this.gateways.delete(name);
  }

  private now(): number {
    return Number(this.clock.monotonicNanos() / NANOS_PER_MILLI);
  }
}
