import type { NewAction, OperatorActions } from '../../admission/policy/operator-actions.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRequest } from '../../protocol/protocol.js';
import type { OwnerRouter } from '../owner-router.js';

/** An operator's order that only the owner of a shard can carry out. */
export type OwnerOrder = Extract<OwnerRequest, { op: 'void' | 'drain' | 'resume' }>;

export interface OrderPorts {
  readonly owners: Pick<OwnerRouter, 'ask'>;
  readonly actions: OperatorActions;
  readonly newId: () => string;
  readonly onFault: (error: unknown, requestId: string) => void;
}

const ACTIONS = { drain: 'DRAIN_SHARD', resume: 'RESUME_SHARD', void: 'VOID_AUCTION' } as const;

/**
 * Logs an order before its owner gets it, and the outcome afterwards, so that nothing is done without an entry. If
 * the log cannot be written, no order is sent.
 */
export class OwnerOrders {
  constructor(private readonly ports: OrderPorts) {}

  async give(shard: number, order: OwnerOrder): Promise<LinkReply> {
    const { actions, newId, owners } = this.ports;
    const action = { action_id: newId(), ...actionOf(shard, order) };
    await actions.enter(action, 'ASKED');
    const reply = await owners.ask(shard, order);
    await this.conclude(action, reply);
    return reply;
  }

  /** A failure to log the outcome does not undo the order; the shard's own journal records it. */
  private async conclude(
    action: NewAction & { readonly action_id: string },
    reply: LinkReply,
  ): Promise<void> {
    const { actions, onFault } = this.ports;
    try {
      if (reply.status === 200) await actions.enter(action, 'DONE');
      else await actions.enter(action, reply.status >= 500 ? 'UNKNOWN' : 'REFUSED', codeOf(reply));
    } catch (error) {
      onFault(error, action.request_id);
    }
  }
}

function actionOf(shard: number, order: OwnerOrder): NewAction {
  const { op, operator, request_id, reason } = order;
  return {
    action: ACTIONS[op],
    by: operator,
    target: op === 'void' ? order.auction_id : String(shard),
    request_id,
    ...(reason === undefined ? {} : { reason }),
  };
}

function codeOf({ body }: LinkReply): string {
  return /"error":"([^"]*)"/.exec(body)?.[1] ?? 'auction_not_found';
}
