import type { LinkReply } from '#libs/link/link-protocol.js';
import type { OpenSocketCount, TraderRequest } from '../../protocol/cell-protocol.js';

export interface SocketSeatPorts {
  /** Names this run of this gateway. */
  readonly gateway: string;
  readonly max: number;
  readonly ask: (
    user: string,
    request: Extract<TraderRequest, { op: 'sockets' }>,
  ) => Promise<Pick<LinkReply, 'status'>>;
  readonly newRequestId: () => string;
}

const TOO_MANY = 429;

/** Limits the sockets of each user. The user's cell counts all gateways. While it is away, only this gateway's sockets count. */
export class SocketSeats {
  private readonly open = new Map<string, number>();

  constructor(private readonly ports: SocketSeatPorts) {}

  /** Returns false if the user has the most sockets allowed. Otherwise the caller must give the place back when the socket closes. */
  async take(user: string): Promise<boolean> {
    const open = (this.open.get(user) ?? 0) + 1;
    if (open > this.ports.max) return false;
    this.open.set(user, open);
    if ((await this.report(user)) !== TOO_MANY) return true;
    this.leave(user);
    return false;
  }

  leave(user: string): void {
    const open = (this.open.get(user) ?? 1) - 1;
    if (open === 0) this.open.delete(user);
    else this.open.set(user, open);
    void this.report(user);
  }

  *counts(): Iterable<OpenSocketCount> {
    for (const [user_id, open] of this.open) yield { user_id, open };
  }

  private async report(user_id: string): Promise<number> {
    const { ask, gateway, newRequestId } = this.ports;
    const request_id = newRequestId();
    const open = this.open.get(user_id) ?? 0;
    try {
      return (await ask(user_id, { op: 'sockets', user_id, request_id, gateway, open })).status;
    } catch {
      // The next beat has the number.
      return 0;
    }
  }
}
