import type { LinkReply } from '#libs/link/link-protocol.js';
import type { OpenSocketCount, TraderRequest } from '../../protocol/cell-protocol.js';

export interface SocketSeatPorts {
  /** Names this life of this gateway. */
  readonly gateway: string;
  readonly max: number;
  readonly ask: (
    user: string,
    request: Extract<TraderRequest, { op: 'sockets' }>,
  ) => Promise<Pick<LinkReply, 'status'>>;
  readonly newRequestId: () => string;
}

const TOO_MANY = 429;

/** The sockets that users have here. Their cell counts those of all gateways; while it is away, those of this one count. */
export class SocketSeats {
  private readonly open = new Map<string, number>();

  constructor(private readonly ports: SocketSeatPorts) {}

  /** False where the user has as many as there may be. `leave` has to follow otherwise. */
  async take(user: string): Promise<boolean> {
    const open = (this.open.get(user) ?? 0) + 1;
    if (open > this.ports.max) return false;
    this.open.set(user, open);
    if ((await this.tell(user)) !== TOO_MANY) return true;
    this.leave(user);
    return false;
  }

  leave(user: string): void {
    const open = (this.open.get(user) ?? 1) - 1;
    if (open === 0) this.open.delete(user);
    else this.open.set(user, open);
    void this.tell(user);
  }

  *counts(): Iterable<OpenSocketCount> {
    for (const [user_id, open] of this.open) yield { user_id, open };
  }

  private async tell(user_id: string): Promise<number> {
    const { ask, gateway, newRequestId } = this.ports;
    const request_id = newRequestId();
    const open = this.open.get(user_id) ?? 0;
    try {
      return (await ask(user_id, { op: 'sockets', user_id, request_id, gateway, open })).status;
    } catch {
      // It hears the number with the next beat.
      return 0;
    }
  }
}
