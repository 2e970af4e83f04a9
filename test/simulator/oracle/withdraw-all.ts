import { activeQuotes, isExpired, type AuctionFile, type FiledQuote } from './auction-file.js';
import type { Asked } from './asked.js';
import type { PlacedEvent, RawNotWithdrawable } from './raw-events.js';
import { must } from './violation.js';

const WITHDRAWN = 'withdraw-all takes back all that may be taken back';

interface Placed {
  readonly file: AuctionFile;
  readonly quote: FiledQuote;
}

/** What one shard did for a withdraw-all, according to its journal. */
export interface WithdrawnPart {
  readonly withdrawn: readonly string[];
  /** The maker's quotes in the shard that remained although they could have been withdrawn. */
  readonly left: readonly Placed[];
}

/** The answer to a withdraw-all. */
export interface WithdrawnAnswer {
  readonly withdrawn: readonly string[];
  readonly not_withdrawable: readonly RawNotWithdrawable[];
  readonly shards: readonly { readonly shard: number; readonly status: string }[];
}

/** Files a shard's part after checking that it, and no other command, withdrew each quote. */
export function partOf(
  { shard, sequence, event: { data, at } }: PlacedEvent,
  open: Iterable<AuctionFile>,
  find: (quoteId: string) => Placed | undefined,
): WithdrawnPart {
  const { account_id: account = '', withdrawn = [] } = data;
  for (const id of withdrawn) {
    const { file, quote } = find(id) ?? {};
    must(
      quote?.maker === account && file?.shard === shard && quote.withdrawal?.isClaimed === false,
      WITHDRAWN,
      () => `quote ${id} in ${sequence} of shard ${shard} was not withdrawn by this`,
    );
    quote.withdrawal.isClaimed = true;
  }
  const left = [...open].flatMap((file) => {
    if (file.shard !== shard || at >= file.terms.closes_at || file.terms.quote_revision_policy !== 'FREE')
      return [];
    const own = activeQuotes(file).filter((quote) => quote.maker === account && !isExpired(quote, at));
    return own.map((quote) => ({ file, quote }));
  });
  return { withdrawn, left };
}

/** Compares an answer with its parts, and the parts with the request. */
export function mustWithdrawAll(
  asked: Asked,
  told: WithdrawnAnswer,
  partIn: (shard: number) => WithdrawnPart | undefined,
  find: (quoteId: string) => Placed | undefined,
  what: () => string,
): void {
  const parts = told.shards.flatMap(({ shard, status }) => {
    if (status === 'UNAVAILABLE') return [];
    const part = partIn(shard);
    must(part !== undefined, WITHDRAWN, () => `${what()}: the journal of shard ${shard} does not say so`);
    return [part];
  });
  const done = parts.flatMap(({ withdrawn }) => withdrawn).join();
  must(
    told.withdrawn.join() === done,
    WITHDRAWN,
    () => `${what()}: told ${told.withdrawn.join()}, not ${done}`,
  );
  for (const id of told.withdrawn) {
    const file = find(id)?.file;
    must(file !== undefined && isMeant(asked, file), WITHDRAWN, () => `${what()}: ${id} was not asked for`);
  }
  const left = parts.flatMap((part) => part.left).find(({ file }) => isMeant(asked, file));
  must(left === undefined, WITHDRAWN, () => `${what()}: ${left?.quote.id ?? ''} was not withdrawn`);
}

function isMeant({ auction_ids: ids, venue }: Asked, { id, terms }: AuctionFile): boolean {
  const isThere = venue === undefined || terms.routes.some((route) => route.venue === venue);
  return isThere && (ids === undefined || ids.includes(id));
}
