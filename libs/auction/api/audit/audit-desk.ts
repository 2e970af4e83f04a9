import { Injectable } from '@nestjs/common';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { JournalUnreadable } from '#libs/journal/journal-errors.js';
import { isUnanswered } from '#libs/platform/database/postgres.js';
import { AuditReadLog, type AuditRead } from '../../projections/audit/read-log.js';
import { PROJECTION_UNAVAILABLE } from '../auctions/completed-reads.js';

const RECORD_UNAVAILABLE = errorReply(503, 'audit_record_unavailable');

export interface AuditCall {
  readonly requestId: string;
  readonly principal: { readonly account_id: string };
}

/** An answer, with the auctions that it shows or that were asked for. */
export interface AuditAnswer {
  readonly reply: Reply;
  readonly auctionIds: readonly string[];
}

/** Serves auditors. A read that cannot be recorded is not answered. */
@Injectable()
export class AuditDesk {
  constructor(private readonly log: AuditReadLog) {}

  async serve(call: AuditCall, what: AuditRead['what'], read: () => Promise<AuditAnswer>): Promise<Reply> {
    const { reply, auctionIds } = await read().catch(ifUnavailable);
    const readerId = call.principal.account_id;
    try {
      await this.log.record({
        readerId,
        requestId: call.requestId,
        what,
        auctionIds,
        status: reply.status,
      });
    } catch {
      return RECORD_UNAVAILABLE;
    }
    return reply;
  }
}

function ifUnavailable(error: unknown): AuditAnswer {
  if (error instanceof JournalUnreadable || isUnanswered(error)) {
    return { reply: PROJECTION_UNAVAILABLE, auctionIds: [] };
  }
  throw error;
}
