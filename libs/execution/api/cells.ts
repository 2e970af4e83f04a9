import { LinkCongested, LinkUnavailable, LinkGarbled } from '#libs/link/link-client.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { CellLink, OperatorRequest, OrderCaller, TraderRequest } from '../protocol/cell-protocol.js';
import type { CellRefusal, CellReplies } from '../protocol/cell-replies.js';
import { cellOf } from '../protocol/routing.js';
import { fromWire } from '../protocol/wire.js';
import { VENUE_IDS, type VenueId } from '../rules/venues.js';
import { CELL_UNAVAILABLE, envelope, RefusedCall } from './refusals.js';

type Op = (TraderRequest | OperatorRequest)['op'];
/** The request type with this operation. One type may have several operations. */
type RequestOf<O extends Op> = TraderRequest | OperatorRequest extends infer R
  ? R extends { readonly op: infer P }
    ? O extends P
      ? R & { readonly op: O }
      : never
    : never
  : never;

type ReplyOf<O extends Op> = CellReplies[O & keyof CellReplies];

export type CellAnswer<O extends Op> =
  | { readonly ok: true; readonly value: ReplyOf<O> }
  | { readonly ok: false; readonly status: number; readonly refusal: CellRefusal };

const SILENT: CellAnswer<never> = { ok: false, status: 503, refusal: CELL_UNAVAILABLE };
const NOT_FOUND = 404;
const UNKNOWN_ORDER = {
  status: NOT_FOUND,
  refusal: { code: 'ORDER_NOT_FOUND', message: 'There is no such order' },
};
const FAULT: CellRefusal = { code: 'INTERNAL_ERROR', message: 'Something went wrong on our side' };

/** How long a gateway waits for a cell. */
export const CELL_PATIENCE_MS = 5_000;
/** A cell waits up to 10 s for the venue before it answers an amend. */
export const AMEND_PATIENCE_MS = 12_000;

const ORDER_ID = /^([0-9a-f])([a-e])[0-9a-f]{6}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The venue that an order id names. The id must be in lower case. Undefined for an id that no order can have. */
export function venueOfOrder(order_id: string): VenueId | undefined {
  const letter = ORDER_ID.exec(order_id)?.[2];
  return letter === undefined ? undefined : VENUE_IDS.find((venue) => venue.endsWith(letter));
}

/** Sends requests to the cell of their user. If a cell does not answer, the result is a refusal. */
export class Cells {
  constructor(private readonly links: readonly CellLink[]) {}

  get count(): number {
    return this.links.length;
  }

  get reachable(): number {
    return this.links.filter((link) => link.connected).length;
  }

  ask<O extends TraderRequest['op']>(
    request: RequestOf<O> & OrderCaller,
    patienceMillis = CELL_PATIENCE_MS,
  ): Promise<CellAnswer<O>> {
    return this.send<O>(cellOf(request.user_id, this.links.length), request, patienceMillis);
  }

  /** The cell's reply. Throws `RefusedCall` for a refusal. */
  async told<O extends TraderRequest['op']>(
    request: RequestOf<O> & OrderCaller,
    patienceMillis = CELL_PATIENCE_MS,
  ): Promise<CellReplies[O]> {
    const answer = await this.ask<O>(request, patienceMillis);
    if (!answer.ok) throw new RefusedCall(envelope(answer.status, answer.refusal));
    return answer.value;
  }

  /** Asks every cell. The answers are in the order of cells. */
  askAll<O extends OperatorRequest['op']>(request: RequestOf<O>): Promise<readonly CellAnswer<O>[]> {
    return Promise.all(this.links.map((_link, cell) => this.send<O>(cell, request, CELL_PATIENCE_MS)));
  }

  /** The user of an order. Cells know an order before any projection does. */
  async ownerOf(order_id: string): Promise<string> {
    const answers = await this.askAll<'order_owner'>({ op: 'order_owner', order_id });
    const found = answers.find((answer) => answer.ok);
    if (found !== undefined) return found.value.user_id;
    const silent = answers.find((answer) => !answer.ok && answer.status !== NOT_FOUND);
    const { status, refusal } = silent === undefined || silent.ok ? UNKNOWN_ORDER : silent;
    throw new RefusedCall(envelope(status, refusal));
  }

  close(): void {
    for (const link of this.links) link.close();
  }

  private async send<O extends Op>(
    cell: number,
    request: TraderRequest | OperatorRequest,
    patienceMillis: number,
  ): Promise<CellAnswer<O>> {
    const link = this.links[cell];
    if (link === undefined) return SILENT;
    try {
      return answerOf(await link.request(request, patienceMillis));
    } catch (error) {
      if (error instanceof LinkUnavailable || error instanceof LinkCongested || error instanceof LinkGarbled)
        return SILENT;
      throw error;
    }
  }
}

function answerOf<O extends Op>({ status, body }: LinkReply): CellAnswer<O> {
  const read = fromWire(body);
  if (status === 200 && isAnswer<O>(read)) return { ok: true, value: read };
  if (status >= 400 && isRefusal(read)) return { ok: false, status, refusal: read };
  return { ok: false, status: 500, refusal: FAULT };
}

/** Replies of cells are trusted, since cells are our own processes. */
function isAnswer<O extends Op>(value: unknown): value is ReplyOf<O> {
  return typeof value === 'object' && value !== null;
}

function isRefusal(value: unknown): value is CellRefusal {
  return typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'string';
}
