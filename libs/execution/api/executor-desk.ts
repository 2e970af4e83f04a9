import { LinkCongested, LinkGarbled, LinkUnavailable } from '#libs/link/link-client.js';
import type { CellRefusal } from '../protocol/cell-replies.js';
import type { ExecutorLink, ExecutorLinkRequest } from '../protocol/executor-protocol.js';
import { fromWire } from '../protocol/wire.js';
import type { VenueBalances } from '../venues/port.js';
import { envelope, Refused } from './refusals.js';

/** Opening an account at a venue takes several exchanges with it. */
const PATIENCE_MS = 10_000;
const SILENT: CellRefusal = {
  code: 'EXCHANGE_UNAVAILABLE',
  message: 'The part of the service that speaks to venues does not answer',
};

interface ExecutorReplies {
  readonly link_venue: { readonly linked_at?: string };
  readonly account_balances: VenueBalances;
  readonly vault_balances: VenueBalances;
  readonly reset_breakers: object;
}
type RequestOf<O extends keyof ExecutorReplies> = Extract<ExecutorLinkRequest, { readonly op: O }>;

type ExecutorAnswer<O extends keyof ExecutorReplies> =
  | { readonly ok: true; readonly value: ExecutorReplies[O] }
  | { readonly ok: false; readonly status: number; readonly refusal: CellRefusal };

/** Asks the executor, which alone uses the credentials of users. */
export class ExecutorDesk {
  constructor(private readonly link: ExecutorLink) {}

  async ask<O extends keyof ExecutorReplies>(request: RequestOf<O>): Promise<ExecutorAnswer<O>> {
    try {
      const { status, body } = await this.link.request(request, PATIENCE_MS);
      const read = fromWire(body);
      if (status === 200 && isAnswer<ExecutorReplies[O]>(read)) return { ok: true, value: read };
      const refusal = isRefusal(read) ? read : SILENT;
      return { ok: false, status: isRefusal(read) ? status : 503, refusal };
    } catch (error) {
      const isSilent =
        error instanceof LinkUnavailable || error instanceof LinkCongested || error instanceof LinkGarbled;
      if (isSilent) return { ok: false, status: 503, refusal: SILENT };
      throw error;
    }
  }

  /** What it has to say, or its refusal, thrown. */
  async told<O extends keyof ExecutorReplies>(request: RequestOf<O>): Promise<ExecutorReplies[O]> {
    const answer = await this.ask<O>(request);
    if (!answer.ok) throw new Refused(envelope(answer.status, answer.refusal));
    return answer.value;
  }

  close(): void {
    this.link.close();
  }
}

/** What the executor answers is believed: it is one of our processes. */
function isAnswer<T>(value: unknown): value is T {
  return typeof value === 'object' && value !== null;
}

function isRefusal(value: unknown): value is CellRefusal {
  return typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'string';
}
