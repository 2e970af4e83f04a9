import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { shardOfId } from '../../protocol/routing.js';
import { CompletedReads } from '../auctions/completed-reads.js';
import { callerOf, commandOf } from '../caller-identity.js';
import { OwnerRouter, passOn } from '../owner-router.js';
import {
  listAuctionQuotes,
  listQuotes,
  preflightQuote,
  reviseQuote,
  submitQuote,
  withdrawAllQuotes,
  withdrawQuote,
} from './quote-endpoints.js';
import { QuotePages } from './quote-pages.js';
import { WithdrawAll } from './withdraw-all.js';

/** Quotes over HTTP. */
@Injectable()
export class QuotesController {
  constructor(
    private readonly owners: OwnerRouter,
    private readonly completed: CompletedReads,
    private readonly pages: QuotePages,
    private readonly everywhere: WithdrawAll,
  ) {}

  @Endpoint(submitQuote)
  async submit(call: CallOf<typeof submitQuote>): Promise<Reply> {
    const reply = await this.owners.ask(shardOfId(call.ids.auctionID), {
      op: 'submit',
      ...commandOf(call, call.body),
      auction_id: call.ids.auctionID,
      body: call.body,
      ...(call.overStream === undefined ? {} : { connection_id: call.overStream.connectionId }),
    });
    return passOn(reply);
  }

  @Endpoint(reviseQuote)
  async revise(call: CallOf<typeof reviseQuote>): Promise<Reply> {
    const reply = await this.owners.ask(shardOfId(call.ids.auctionID), {
      op: 'revise',
      ...commandOf(call, [call.ids.quoteID, call.body]),
      auction_id: call.ids.auctionID,
      quote_id: call.ids.quoteID,
      body: call.body,
    });
    return passOn(reply);
  }

  @Endpoint(withdrawQuote)
  async withdraw(call: CallOf<typeof withdrawQuote>): Promise<Reply> {
    const expected = call.body.expected_revision;
    const reply = await this.owners.ask(shardOfId(call.ids.auctionID), {
      op: 'withdraw',
      ...commandOf(call, [call.ids.quoteID, call.body]),
      auction_id: call.ids.auctionID,
      quote_id: call.ids.quoteID,
      ...(expected === undefined ? {} : { expected_revision: expected }),
    });
    return passOn(reply);
  }

  @Endpoint(preflightQuote)
  async preflight(call: CallOf<typeof preflightQuote>): Promise<Reply> {
    const reply = await this.owners.ask(shardOfId(call.ids.auctionID), {
      op: 'quote_preflight',
      ...callerOf(call),
      auction_id: call.ids.auctionID,
      price_atoms: call.body.price_atoms,
      quantity_atoms: call.body.max_executable_quantity_atoms,
    });
    return passOn(reply);
  }

  @Endpoint(listAuctionQuotes)
  async ofAuction(call: CallOf<typeof listAuctionQuotes>): Promise<Reply> {
    const account = call.principal.account_id;
    const reply = await this.owners.ask(shardOfId(call.ids.auctionID), {
      op: 'auction_quotes',
      ...callerOf(call),
      auction_id: call.ids.auctionID,
    });
    return reply.status === 404 ? this.completed.quotes(call.ids.auctionID, account) : passOn(reply);
  }

  @Endpoint(listQuotes)
  list(call: CallOf<typeof listQuotes>): Promise<Reply> {
    return this.pages.page(call.principal.account_id, call.requestId, call.query);
  }

  @Endpoint(withdrawAllQuotes)
  withdrawAll(call: CallOf<typeof withdrawAllQuotes>): Promise<Reply> {
    return this.everywhere.withdraw({
      op: 'withdraw_all',
      ...commandOf(call, call.body),
      metered: true,
      ...call.body,
    });
  }
}
