import type { LinkReply } from '#libs/link/link-protocol.js';
import type { TraderRequest } from '../../protocol/cell-protocol.js';
import { fromWire } from '../../protocol/wire.js';
import type { LiveOrders } from '../../stream/user-fold.js';
import { CellAway } from '../../stream/user-folds.js';

export type AskCell = (user: string, request: TraderRequest) => Promise<LinkReply>;

/** What the cell says of the user's live orders. Fails with CellAway. */
export async function askLiveOrders(ask: AskCell, user_id: string, request_id: string): Promise<LiveOrders> {
  const reply = await ask(user_id, { op: 'live_orders', user_id, request_id }).catch((cause: unknown) => {
    throw new CellAway('the cell does not answer', { cause });
  });
  const body = reply.status === 200 ? fromWire(reply.body) : undefined;
  if (isLiveOrders(body)) return body;
  throw new CellAway(`the cell answers ${reply.status}`);
}

/** The cell is one of our processes: what it says is its own. */
function isLiveOrders(body: unknown): body is LiveOrders {
  return (
    typeof body === 'object' &&
    body !== null &&
    'orders' in body &&
    Array.isArray(body.orders) &&
    'position' in body
  );
}
