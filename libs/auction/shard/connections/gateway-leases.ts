import { LEASE_MILLIS } from './connection.js';

interface Lease {
  renewedAt: number;
  readonly held: Set<string>;
}

/** The gateways with a current lease, and the connections that each one holds. */
export class GatewayLeases {
  private readonly leases = new Map<string, Lease>();

  isKnown(gateway: string): boolean {
    return this.leases.has(gateway);
  }

  renew(gateway: string, now: number): void {
    const lease = this.leases.get(gateway);
    if (lease === undefined) this.leases.set(gateway, { renewedAt: now, held: new Set() });
    else lease.renewedAt = now;
  }

  heldBy(gateway: string): ReadonlySet<string> {
    return this.leases.get(gateway)?.held ?? new Set();
  }

  hold(gateway: string, connectionId: string): void {
    this.leases.get(gateway)?.held.add(connectionId);
  }

  letGo(gateway: string, connectionId: string): void {
    this.leases.get(gateway)?.held.delete(connectionId);
  }

  /** Removes the gateways whose lease has expired, and returns the connections that they held. */
  takeExpired(now: number): string[] {
    const lost: string[] = [];
    for (const [gateway, { renewedAt, held }] of this.leases) {
      if (now - renewedAt < LEASE_MILLIS) continue;
      lost.push(...held);
      this.leases.delete(gateway);
    }
    return lost;
  }
}
