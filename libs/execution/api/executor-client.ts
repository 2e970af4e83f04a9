import { LinkCongested, LinkGarbled, LinkUnavailable } from '#libs/link/link-client.js';
import type { CellRefusal } from '../protocol/cell-replies.js';
import type { ExecutorLink, ExecutorLinkRequest } from '../protocol/executor-protocol.js';
import { fromWire } from '../protocol/wire.js';
import type { SignerStatus } from '../protocol/signer-protocol.js';
import type { VenueBalances } from '../venues/port.js';
import { envelope, RefusedCall } from './refusals.js';

/** Opening an account at a venue takes several calls to it. */
const PATIENCE_MS = 10_000;
const SILENT: CellRefusal = {
  code: 'EXCHANGE_UNAVAILABLE',
  message: 'The part of the service that speaks to venues does not answer',
};

interface ExecutorReplies {
  readonly link_venue: { readonly linked_at?: string };
  readonly account_balances: VenueBalances;
  readonly vault_balances: VenueBalances;
  readonly signer_status: SignerStatus;
  readonly reset_breakers: object;
}
type Op = keyof ExecutorReplies;
type ReplyOf<O extends Op> = ExecutorReplies[O];
type RequestOf<O extends Op> = Extract<ExecutorLinkRequest, { readonly op: O }>;

type ExecutorAnswer<O extends Op> =
  | { readonly ok: true; readonly value: ReplyOf<O> }
  | { readonly ok: false; readonly status: number; readonly refusal: CellRefusal };

/** Sends requests to the executor, the only process that uses users' credentials. */
export class ExecutorClient {
  constructor(private readonly link: ExecutorLink) {}

  async ask<O extends Op>(request: RequestOf<O>): Promise<ExecutorAnswer<O>> {
    try {
      const { status, body } = await this.link.request(request, PATIENCE_MS);
      const read = fromWire(body);
      if (status === 200 && isAnswer<O>(read)) return { ok: true, value: read };
      const refusal = isRefusal(read) ? read : SILENT;
      return { ok: false, status: isRefusal(read) ? status : 503, refusal };
    } catch (error) {
      const isSilent =
        error instanceof LinkUnavailable || error instanceof LinkCongested || error instanceof LinkGarbled;
      if (isSilent) return { ok: false, status: 503, refusal: SILENT };
      throw error;
    }
  }

  /** The executor's reply. Throws `RefusedCall` for a refusal. */
  async told<O extends Op>(request: RequestOf<O>): Promise<ReplyOf<O>> {
    const answer = await this.ask<O>(request);
    if (!answer.ok) throw new RefusedCall(envelope(answer.status, answer.refusal));
    return answer.value;
  }

  close(): void {
    this.link.close();
  }
}

/** Replies of the executor are trusted, since it is our own process. */
function isAnswer<O extends Op>(value: unknown): value is ReplyOf<O> {
  return typeof value === 'object' && value !== null;
}

function isRefusal(value: unknown): value is CellRefusal {
  return typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'string';
}
