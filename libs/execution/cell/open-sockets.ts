import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { OpenSocketCount } from '../protocol/cell-protocol.js';

interface Gateway {
  heardAt: number;
  readonly open: Map<string, number>;
}

const SOCKETS = 10;
/** Of a gateway that has said nothing for so long the sockets are gone. */
const LEASE_MILLIS = 5_000;

/** How many sockets each user has, at all gateways together. A new process hears it again within a second. */
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

  /** A gateway has so many of the user now, or asks for that many: false where one more is one too many. */
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

  /** All that a gateway has of this cell's users. */
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
