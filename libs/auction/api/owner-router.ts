import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { LinkCongested, LinkGarbled } from '#libs/link/link-client.js';
import type { JournalNotice } from '#libs/link/journal-notices.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerLink, OwnerRequest } from '../protocol/protocol.js';

const UNAVAILABLE: LinkReply = { status: 503, body: '{"error":"auction_owner_unavailable"}' };
const ROUTING: LinkReply = { status: 503, body: '{"error":"owner_routing_unavailable"}' };
const GARBLED: LinkReply = { status: 503, body: '{"error":"owner_response_invalid"}' };

/** Sends requests to the owner of their shard. An unreachable owner is answered with 503, not thrown. */
export class OwnerRouter {
  private notified: (shard: number, notice: JournalNotice) => void = () => undefined;

  constructor(private readonly links: readonly OwnerLink[]) {}

  /** Sets who is notified of the owners' notices. */
  onNotice(notified: (shard: number, notice: JournalNotice) => void): void {
    this.notified = notified;
  }

  noticed(shard: number, notice: JournalNotice): void {
    this.notified(shard, notice);
  }

  get shards(): number[] {
    return [...this.links.keys()];
  }

  get reachable(): number {
    return this.links.filter((link) => link.connected).length;
  }

  async ask(shard: number, request: OwnerRequest): Promise<LinkReply> {
    const link = this.links[shard];
    if (link === undefined) return ROUTING;
    try {
      return await link.request(request);
    } catch (error) {
      if (error instanceof LinkCongested) return ROUTING;
      return error instanceof LinkGarbled ? GARBLED : UNAVAILABLE;
    }
  }

  /** The replies of all owners, or the first that is not a success. An answer is never made from some shards only. */
  async askAll(request: OwnerRequest): Promise<readonly LinkReply[] | LinkReply> {
    const replies = await Promise.all(this.shards.map((shard) => this.ask(shard, request)));
    return replies.find((reply) => reply.status !== 200) ?? replies;
  }

  close(): void {
    for (const link of this.links) link.close();
  }
}

export function passOn({ status, body }: LinkReply): Reply {
  return body === '' ? errorReply(status, 'auction_not_found') : { status, body };
}
