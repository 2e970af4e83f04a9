import { activeQuotes, type AuctionFile } from './auction-file.js';
import type { Asked } from './asked.js';
import type { RawQuote } from './raw-events.js';
import { must } from './violation.js';

const FOUNDED = 'refusals are founded';

/** A command of a maker's that was refused, and what its auction has come to by the time of the answer. */
export interface Judged {
  readonly name: string;
  readonly account: string;
  readonly asked: Asked;
  readonly file: AuctionFile;
  /** Whether somebody may have held that it is this late, or later. */
  readonly mayBePast: (instant: string) => boolean;
}

/** What a quote would have said. */
interface Proposal {
  readonly price: number;
  readonly quantity: number;
  readonly minimum: number | undefined;
}

type Ground = (judged: Judged) => boolean;

/** By code, what the contract gives as its reason. Nobody in these worlds has a largest size of his own, and all references are fit to print. */
const GROUNDS: Readonly<Record<string, Ground>> = {
  PRICE_OUT_OF_RANGE: ofProposal(({ price }, { terms: { grid } }) => {
    return price < grid.min_price_atoms || price > grid.max_price_atoms;
  }),
  INVALID_PRICE_TICK: ofProposal(({ price }, { terms }) => price % terms.grid.price_tick_atoms !== 0),
  INVALID_QUANTITY_STEP: ofProposal(({ quantity, minimum }, { terms }) => {
    const step = terms.grid.quantity_step_atoms;
    return [quantity, minimum ?? step].some((size) => size === 0 || size % step !== 0);
  }),
  UNAUTHORIZED_SIZE: ofProposal(({ quantity }, { terms }) => quantity > terms.quantity_atoms),
  QUANTITY_BELOW_MINIMUM: ofProposal(({ quantity, minimum = 0 }) => minimum > quantity),
  INVALID_TERMS: ({ asked: { expires_at: expiry }, file, mayBePast }) => {
    if (typeof expiry !== 'string') return false;
    return file.terms.quote_revision_policy !== 'FREE' || mayBePast(expiry);
  },
  REVISION_NOT_IMPROVING: (judged) => {
    const before = revisedOf(judged);
    return before !== undefined && !isBetter(judged.file, before, proposalOf(judged));
  },
  QUOTE_NOT_REVISABLE: (judged) => {
    return judged.file.terms.quote_revision_policy === 'FINAL' || hasEnded(judged);
  },
  QUOTE_NOT_WITHDRAWABLE: (judged) => {
    return judged.file.terms.quote_revision_policy !== 'FREE' || hasEnded(judged);
  },
};

/** A refusal by the terms of the auction, or by what has become of the quote, names a reason that there is. */
export function mustBeGrounded(judged: Judged, error: string): void {
  const isFounded = GROUNDS[error]?.(judged) ?? true;
  must(isFounded, FOUNDED, () => `${judged.name}: ${error} of ${JSON.stringify(judged.asked)}`);
}

/** Whoever has a quote is told of it; owners refuse by what is in their journal. */
export function mustNotBeKnown({ name, account, asked, file }: Omit<Judged, 'mayBePast'>): void {
  const quote = file.quotes.get(asked.quote_id ?? '');
  must(quote?.maker !== account, FOUNDED, () => `${name}: quote_not_found, and it is its own`);
}

function ofProposal(speaksAgainst: (proposal: Proposal, file: AuctionFile) => boolean): Ground {
  return (judged) => speaksAgainst(proposalOf(judged), judged.file);
}

/** What a revision does not name is as it was in the one that it has in mind. */
function proposalOf(judged: Judged): Proposal {
  const { asked } = judged;
  const before = revisedOf(judged);
  return {
    price: numberIn(asked, 'price_atoms') ?? before?.price_atoms ?? NaN,
    quantity: numberIn(asked, 'quantity_atoms') ?? before?.quantity_atoms ?? NaN,
    minimum: numberIn(asked, 'min_quantity_atoms') ?? before?.min_quantity_atoms,
  };
}

function revisedOf({ asked, file }: Judged): RawQuote | undefined {
  return file.quotes.get(asked.quote_id ?? '')?.versions[(asked.expected_revision ?? 0) - 1];
}

function numberIn(asked: Asked, field: string): number | undefined {
  const value = asked[field];
  return typeof value === 'number' ? value : undefined;
}

/** Who sells asks less, who buys bids more, or the quote is larger; nothing is worse than before. */
function isBetter({ terms }: AuctionFile, before: RawQuote, after: Proposal): boolean {
  const cheaper = before.price_atoms - after.price;
  const [gain, growth] = [terms.side === 'BUY' ? cheaper : -cheaper, after.quantity - before.quantity_atoms];
  const asksMore = (after.minimum ?? 0) > before.min_quantity_atoms;
  return gain >= 0 && growth >= 0 && gain + growth > 0 && !asksMore;
}

function hasEnded({ asked, file, mayBePast }: Judged): boolean {
  const quote = activeQuotes(file).find(({ id }) => id === asked.quote_id);
  if (quote === undefined || file.stage !== 'OPEN') return true;
  return quote.expiresAt !== undefined && mayBePast(quote.expiresAt);
}
