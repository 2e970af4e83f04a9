import type { ApiCaller } from '#libs/identity/api-keys/authenticate.js';
import { orderCaller } from './caller.js';
import type { Cells } from './cells.js';
import { envelope, RefusedCall } from './refusals.js';

/** How long a read waits for its slot. */
const PATIENCE_MS = 300;

/** Takes one slot of a rate limit in the caller's cell, which counts for all gateways. If the cell is silent, the read goes on. */
export async function takeSlot(
  cells: Cells,
  caller: ApiCaller,
  requestId: string,
  limit: 'reads' | 'rpc' | 'fee_quotes',
): Promise<void> {
  const answer = await cells.ask<'take_slot'>(
    { ...orderCaller(caller, requestId), op: 'take_slot', limit },
    PATIENCE_MS,
  );
  if (!answer.ok && answer.status === 429) throw new RefusedCall(envelope(answer.status, answer.refusal));
}
