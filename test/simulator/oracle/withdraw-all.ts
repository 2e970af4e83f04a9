import { activeQuotes, isExpired, type AuctionFile, type FiledQuote } from './auction-file.js';
import type { Asked } from './asked.js';
import type { PlacedEvent, RawNotWithdrawable } from './raw-events.js';
import { must } from './violation.js';

const WITHDRAWN = 'withdraw-all takes back all that may be taken back';

interface Placed {
  readonly file: AuctionFile;
  readonly quote: FiledQuote;
}

/** What one shard did of a withdraw-all, as its journal has it. */
export interface WithdrawnPart {
  readonly withdrawn: readonly string[];
  readonly refused: readonly RawNotWithdrawable[];
  /** What of the maker's stood in the shard when it was done. */
  readonly left: readonly Placed[];
}

/** What was told of a withdraw-all. */
export interface WithdrawnAnswer {
  readonly withdrawn: readonly string[];
  readonly not_withdrawable: readonly RawNotWithdrawable[];
  readonly shards: readonly { readonly shard: number; readonly status: string }[];
}

/** Files a shard's part, provided that what it says of each quote is so. */
export function partOf(
  { shard, sequence, event }: PlacedEvent,
  open: Iterable<AuctionFile>,
  find: (quoteId: string) => Placed | undefined,
): WithdrawnPart {
  const { data, at } = event;
  const { account_id: account = '', withdrawn = [], not_withdrawable: refused = [] } = data;
  const where = (id: string): string => `quote ${id} in ${sequence} of shard ${shard}`;
  must(event.command?.account_id === account, WITHDRAWN, () => `${sequence} is not of ${account}`);
  const own = (id: string): Placed => {
    const found = find(id);
    must(
      found?.quote.maker === account && found.file.shard === shard,
      WITHDRAWN,
      () => `${where(id)} is not ${account}'s`,
    );
    return found;
  };
  for (const id of withdrawn) {
    const { withdrawal } = own(id).quote;
    must(
      withdrawal?.by === 'MARKET_MAKER' && !withdrawal.isClaimed,
      WITHDRAWN,
      () => `${where(id)} is told as withdrawn and was not by this`,
    );
    withdrawal.isClaimed = true;
  }
  for (const { quote_id: id } of refused) {
    const { file, quote } = own(id);
    must(
      quote.withdrawal === undefined && !isFree(file, quote, at),
      WITHDRAWN,
      () => `${where(id)} could have been withdrawn`,
    );
  }
  const left = [...open].flatMap((file) =>
    file.shard === shard && at < file.terms.closes_at
      ? activeQuotes(file).flatMap((quote) =>
          quote.maker === account && !isExpired(quote, at) ? [{ file, quote }] : [],
        )
      : [],
  );
  return { withdrawn, refused, left };
}

function isFree({ stage, terms }: AuctionFile, quote: FiledQuote, at: string): boolean {
  const isOpen = stage === 'OPEN' && at < terms.closes_at;
  return isOpen && terms.quote_revision_policy === 'FREE' && !isExpired(quote, at);
}

/** Holds an answer against the parts that it is made of, and these against what was asked. */
export function mustWithdrawAll(
  asked: Asked,
  told: WithdrawnAnswer,
  partIn: (shard: number) => WithdrawnPart | undefined,
  find: (quoteId: string) => Placed | undefined,
  what: () => string,
): void {
  const numbers = told.shards.map(({ shard }) => shard);
  must(numbers.join() === '0,1,2', WITHDRAWN, () => `${what()}: tells of shards ${numbers.join()}`);
  const parts = told.shards.flatMap(({ shard, status }) => {
    if (status === 'UNAVAILABLE') return [];
    const part = partIn(shard);
    must(
      status === 'DONE' && part !== undefined,
      WITHDRAWN,
      () => `${what()}: shard ${shard} is ${status}, and its journal does not say so`,
    );
    return [part];
  });
  const done = parts.flatMap(({ withdrawn }) => withdrawn);
  must(
    told.withdrawn.join() === done.join(),
    WITHDRAWN,
    () => `${what()}: told ${told.withdrawn.join()} instead of ${done.join()}`,
  );
  const refusals = [told.not_withdrawable, parts.flatMap(({ refused }) => refused)].map((list) =>
    list.map(({ quote_id: id, error }) => `${id} ${error}`).join(),
  );
  must(refusals[0] === refusals[1], WITHDRAWN, () => `${what()}: told ${refusals.join(' instead of ')}`);
  const named = new Set([...done, ...told.not_withdrawable.map(({ quote_id: id }) => id)]);
  for (const id of named) {
    const file = find(id)?.file;
    must(file !== undefined && isMeant(asked, file), WITHDRAWN, () => `${what()}: ${id} was not asked for`);
  }
  for (const { file, quote } of parts.flatMap(({ left }) => left)) {
    must(
      named.has(quote.id) || !isMeant(asked, file),
      WITHDRAWN,
      () => `${what()}: ${quote.id} was left standing in ${file.id}`,
    );
  }
}

function isMeant({ auction_ids: ids, venue }: Asked, { id, terms }: AuctionFile): boolean {
  const isThere = venue === undefined || terms.routes.some((route) => route.venue === venue);
  return isThere && (ids === undefined || ids.includes(id));
}
