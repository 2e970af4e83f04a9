import { instantFromNanos } from '#libs/base/instant.js';
import { MISMATCH } from '#libs/edge/decoding/decode.js';
import { shardUuid } from '#libs/edge/path-ids.js';
import { CONTROL_MESSAGES, type ClientMessage, type Control, type ControlName } from '../client-messages.js';
import type { Refused } from '../ports.js';
import { ack, message, reject } from '../server-messages.js';
import type { Line } from '#libs/socket/line.js';
import { FORBIDDEN, INVALID, OUT_OF_RANGE, SESSION_UNKNOWN, UNAUTHORIZED } from '#libs/socket/refusals.js';
import type { SessionGuard } from '#libs/socket/session-guard.js';
import type { SubscriptionDesk } from './subscription-desk.js';
import type { Work } from '#libs/socket/work.js';

export interface ControlPorts {
  readonly line: Line;
  readonly work: Work;
  readonly guard: SessionGuard;
  readonly subscriptions: SubscriptionDesk;
  readonly onBye: (cmdId: string) => void;
}

const NANOS_PER_SECOND = 1_000_000_000n;
const REFUSALS = { foreign: FORBIDDEN, unauthorized: UNAUTHORIZED, unavailable: SESSION_UNKNOWN } as const;
const auctionId = shardUuid('invalid_auction_id');

/** What concerns the connection itself. */
export class ControlDesk {
  constructor(private readonly ports: ControlPorts) {}

  take(said: ClientMessage, type: ControlName): void {
    const { cmdId } = said;
    const { line, subscriptions, onBye } = this.ports;
    switch (type) {
      case 'hello':
        line.say(reject(cmdId, OUT_OF_RANGE));
        return;
      case 'subscribe':
        this.read(type, said, (wanted) => {
          const refusal = misaddressed(wanted);
          if (refusal === undefined) subscriptions.subscribe(cmdId, wanted);
          else line.say(reject(cmdId, refusal));
        });
        return;
      case 'unsubscribe':
        this.read(type, said, ({ subscription_id: id }) => {
          subscriptions.unsubscribe(cmdId, id);
        });
        return;
      case 'auth.refresh':
        this.read(type, said, ({ token }) => {
          this.refresh(cmdId, token);
        });
        return;
      case 'ping':
        this.read(type, said, () => {
          line.say(message('pong', { cmd_id: cmdId }));
        });
        return;
      case 'bye':
        this.read(type, said, () => {
          onBye(cmdId);
        });
    }
  }

  private read<Name extends ControlName>(
    name: Name,
    said: ClientMessage,
    obey: (wanted: Control<Name>) => void,
  ): void {
    const wanted = decodeControl(name, said);
    if (wanted === undefined) this.ports.line.say(reject(said.cmdId, INVALID));
    else obey(wanted);
  }

  private refresh(cmdId: string, token: string): void {
    const { line, work, guard } = this.ports;
    work.run(cmdId, async () => {
      const outcome = await guard.refresh(token);
      if (outcome === 'refreshed') line.say(ack(cmdId, 200, JSON.stringify(sessionEnd(guard))));
      else line.say(reject(cmdId, REFUSALS[outcome]));
    });
  }
}

export function decodeControl<Name extends ControlName>(
  name: Name,
  { fields }: ClientMessage,
): Control<Name> | undefined {
  if (fields === undefined) return undefined;
  const decoded = CONTROL_MESSAGES[name].decode(fields);
  return decoded === MISMATCH ? undefined : (decoded as Control<Name>);
}

export function sessionEnd({ expiresAt }: SessionGuard): { readonly session_expires_at: string } {
  return { session_expires_at: instantFromNanos(BigInt(expiresAt) * NANOS_PER_SECOND) };
}

/** A subscription to one auction names it, and one to all of them names none. */
function misaddressed({
  channel,
  auction_id: id,
  after_seq: after,
}: Control<'subscribe'>): Refused | undefined {
  if (channel === 'auctions') return id === undefined && after === undefined ? undefined : INVALID;
  if (id === undefined) return INVALID;
  return auctionId.accepts(id) ? undefined : { status: 400, error: auctionId.fault };
}
