import type { LinkReply } from '#libs/link/link-protocol.js';
import type { TraderRequest } from '../../protocol/cell-protocol.js';
import { fromWire } from '../../protocol/wire.js';
import type { LiveOrders } from '../../stream/user-fold.js';
import { CellAway } from '../../stream/user-folds.js';

export type AskCell = (user: string, request: TraderRequest) => Promise<LinkReply>;

/** Reads the user's live orders from the cell. Fails with `CellAway`. */
export async function askLiveOrders(ask: AskCell, user_id: string, request_id: string): Promise<LiveOrders> {
  const reply = await ask(user_id, { op: 'live_orders', user_id, request_id }).catch((cause: unknown) => {
    throw new CellAway('the cell does not answer', { cause });
  });
  const body = reply.status === 200 ? fromWire(reply.body) : undefined;
  if (isLiveOrders(body)) return body;
  throw new CellAway(`the cell answers ${reply.status}`);
}

/** Replies of cells are trusted, since cells are our own processes. */
function isLiveOrders(body: unknown): body is LiveOrders {
  return (
    typeof body === 'object' &&
    body !== null &&
    'orders' in body &&
    Array.isArray(body.orders) &&
    'position' in body
  );
}
