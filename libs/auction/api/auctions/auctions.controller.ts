import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import { wantsNdjson } from '#libs/edge/reply/ndjson.js';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { homeShard, shardOfCreate, shardOfId } from '../../protocol/routing.js';
import { callerOf, commandOf } from '../caller-identity.js';
import { OwnerRouter, passOn } from '../owner-router.js';
import {
  cancelAuction,
  createAuction,
  getAuction,
  getEvents,
  listAuctions,
  preflightAuction,
} from './auction-endpoints.js';
import { AuctionPages } from './auction-pages.js';
import { CompletedReads } from './completed-reads.js';
import { TimelineStream } from './timeline-stream.js';

const INVALID_PAGE = errorReply(400, 'invalid_events_page');

/**
 * Auctions over HTTP. Commands go to the owner; reads go to the owner first and then to the projection of completed
 * auctions.
 */
@Injectable()
export class AuctionsController {
  constructor(
    private readonly owners: OwnerRouter,
    private readonly pages: AuctionPages,
    private readonly completed: CompletedReads,
    private readonly timelines: TimelineStream,
  ) {}

  @Endpoint(createAuction)
  async create(call: CallOf<typeof createAuction>): Promise<Reply> {
    const account = call.principal.account_id;
    const reply = await this.owners.ask(shardOfCreate(account, call.idempotencyKey), {
      op: 'create',
      ...commandOf(call, call.body),
      body: call.body,
    });
    return passOn(reply);
  }

  @Endpoint(preflightAuction)
  async preflight(call: CallOf<typeof preflightAuction>): Promise<Reply> {
    const account = call.principal.account_id;
    const reply = await this.owners.ask(homeShard(account), {
      op: 'originator_preflight',
      ...callerOf(call),
      body: call.body,
    });
    // This path has no 503: without the owner, authority cannot be verified either.
    return reply.status === 503 ? errorReply(500, 'internal_error') : passOn(reply);
  }

  @Endpoint(listAuctions)
  list(call: CallOf<typeof listAuctions>): Promise<Reply> {
    return this.pages.page(call.principal.account_id, call.requestId, call.query);
  }

  @Endpoint(getAuction)
  async get(call: CallOf<typeof getAuction>): Promise<Reply> {
    const account = call.principal.account_id;
    const reply = await this.owners.ask(shardOfId(call.ids.auctionID), {
      op: 'auction',
      ...callerOf(call),
      auction_id: call.ids.auctionID,
    });
    return reply.status === 404 ? this.completed.auction(call.ids.auctionID, account) : passOn(reply);
  }

  @Endpoint(getEvents)
  async events(call: CallOf<typeof getEvents>): Promise<Reply> {
    const account = call.principal.account_id;
    const asked = { auctionId: call.ids.auctionID, account, requestId: call.requestId };
    if (wantsNdjson(call.accept)) return this.timelines.stream(asked, call.query.after_seq);
    const { after_seq, limit } = call.query;
    return limit === undefined ? INVALID_PAGE : this.timelines.page(asked, after_seq, limit);
  }

  @Endpoint(cancelAuction)
  async cancel(call: CallOf<typeof cancelAuction>): Promise<Reply> {
    const reply = await this.owners.ask(shardOfId(call.ids.auctionID), {
      op: 'cancel',
      ...commandOf(call, call.body),
      auction_id: call.ids.auctionID,
      ...(call.body.reason === undefined ? {} : { reason: call.body.reason }),
    });
    return passOn(reply);
  }
}
