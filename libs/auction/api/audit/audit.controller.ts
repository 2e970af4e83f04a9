import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { AuditReader, type AuditedAuction } from '../../projections/audit/audit-reader.js';
import { auctionCursor } from '../auctions/auction-endpoints.js';
import { AUCTION_NOT_FOUND } from '../auctions/completed-reads.js';
import { AuditDesk, type AuditAnswer } from './audit-desk.js';
import { getAudited, getAuditKeys, getBundle, listAudited } from './audit-endpoints.js';
import { ReplayBundles } from './replay-bundles.js';

const INCOMPLETE = errorReply(503, 'audit_timeline_incomplete');

/** Completed auctions for auditors, from the projections only: auditors see no live auctions. */
@Injectable()
export class AuditController {
  constructor(
    private readonly desk: AuditDesk,
    private readonly reader: AuditReader,
    private readonly bundles: ReplayBundles,
  ) {}

  @Endpoint(listAudited)
  list(call: CallOf<typeof listAudited>): Promise<Reply> {
    const { limit, cursor } = call.query;
    return this.desk.serve(call, 'LIST', async () => {
      const rows = await this.reader.page(limit + 1, cursor);
      const auctions = rows.slice(0, limit);
      const last = rows.length > limit ? auctions.at(-1) : undefined;
      const next =
        last === undefined
          ? {}
          : { next_cursor: auctionCursor.encode({ o: last.opened_at, i: last.auction_id }) };
      return {
        reply: { status: 200, body: { auctions, ...next } },
        auctionIds: auctions.map((row) => row.auction_id),
      };
    });
  }

  @Endpoint(getAudited)
  get(call: CallOf<typeof getAudited>): Promise<Reply> {
    const id = call.ids.auctionID;
    return this.desk.serve(call, 'AUCTION', () => this.found(id, (audited) => this.bundles.view(audited)));
  }

  @Endpoint(getBundle)
  bundle(call: CallOf<typeof getBundle>): Promise<Reply> {
    const id = call.ids.auctionID;
    return this.desk.serve(call, 'BUNDLE', () => this.found(id, (audited) => this.bundles.bundle(audited)));
  }

  @Endpoint(getAuditKeys)
  keys(): Reply {
    return { status: 200, body: { keys: this.bundles.publicKeys } };
  }

  private async found(
    auctionId: string,
    bodyOf: (audited: AuditedAuction) => object | Promise<string | undefined>,
  ): Promise<AuditAnswer> {
    const auctionIds = [auctionId];
    const audited = await this.reader.auction(auctionId);
    if (audited === undefined) return { reply: AUCTION_NOT_FOUND, auctionIds };
    const body = audited === 'incomplete' ? undefined : await bodyOf(audited);
    return { reply: body === undefined ? INCOMPLETE : { status: 200, body }, auctionIds };
  }
}
