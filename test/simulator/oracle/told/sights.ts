import type { FiledAward } from '../auction-file.js';
import { originatorFor, winnerFor } from './names.js';
import type { Picture } from './picture.js';
import type { Shown, ViewedAuction } from './shown.js';

const LIVE: ReadonlySet<string> = new Set(['OPEN', 'CLOSED', 'AWARDED', 'EXECUTING']);
const STATUS_OF_A_WINNER = {
  PENDING: 'AWARDED',
  SUBMITTED: 'EXECUTING',
  CONFIRMED: 'SETTLED',
  FAILED: 'EXECUTION_FAILED',
} as const;

/** All that the account may see of the auction now, by the contract's table of fields. */
export function sightFor(picture: Picture, account: string, version: number): ViewedAuction {
  const isOriginator = picture.file.terms.originator.account_id === account;
  const common = commonFields(picture, account, version);
  if (isOriginator) {
    return { view: { ...common, ...originatorFields(picture) }, quotes: awardedQuotes(picture) };
  }
  const own = picture.quotesOf(account).map(({ shown }) => shown);
  return { view: { ...common, ...makerFields(picture, account, own.at(-1)) }, quotes: own.toReversed() };
}

/** The status as the account sees it: over at the close for a maker without an award, otherwise at the end of its award. */
export function statusFor(picture: Picture, account: string): string {
  const { file } = picture;
  if (file.terms.originator.account_id !== account && picture.isDecided) {
    const award = picture.awardOf(account);
    if (award !== undefined) return STATUS_OF_A_WINNER[award.stage];
    return file.awards.size === 0 && picture.judgedOf(account) !== undefined ? 'NO_AWARD' : 'COMPLETED';
  }
  if (picture.completedAt !== undefined || picture.cancellation !== undefined) return file.status;
  if (picture.isExecuting) return 'EXECUTING';
  if (file.awards.size > 0) return 'AWARDED';
  return file.stage === 'OPEN' ? 'OPEN' : 'CLOSED';
}

function completionFor(picture: Picture, account: string): string | undefined {
  const { closes_at: closesAt, originator } = picture.file.terms;
  if (originator.account_id === account || !picture.isDecided) return picture.completedAt;
  const award = picture.awardOf(account);
  return award === undefined ? closesAt : picture.ends.get(award.terms.award_id);
}

function commonFields(picture: Picture, account: string, version: number): Shown {
  const { file } = picture;
  const { terms } = file;
  const status = statusFor(picture, account);
  return {
    auction_id: file.id,
    role: terms.originator.account_id === account ? 'ORIGINATOR' : 'MARKET_MAKER',
    status,
    phase: LIVE.has(status) ? 'LIVE' : 'COMPLETED',
    view_version: version,
    side: terms.side,
    quantity_atoms: terms.quantity_atoms,
    allocation: terms.allocation,
    max_winners: terms.allocation === 'SPLIT' ? terms.max_winners : undefined,
    quote_revision_policy: terms.quote_revision_policy,
    result_disclosure: terms.result_disclosure,
    routes: terms.routes.map(({ venue, contract_id, outcome, title }) => ({
      venue,
      contract_id,
      outcome,
      title,
    })),
    price_tick_atoms: terms.grid.price_tick_atoms,
    min_price_atoms: terms.grid.min_price_atoms,
    max_price_atoms: terms.grid.max_price_atoms,
    quantity_step_atoms: terms.grid.quantity_step_atoms,
    opened_at: terms.opened_at,
    closes_at: terms.closes_at,
    closed_at: file.stage === 'OPEN' || picture.cancellation !== undefined ? undefined : terms.closes_at,
    completed_at: completionFor(picture, account),
  };
}

function originatorFields(picture: Picture): Shown {
  const { terms } = picture.file;
  const { cancellation } = picture;
  const { originator, market_makers } = terms.identity_policy;
  return {
    limit_price_atoms: terms.limit_price_atoms,
    min_fill_quantity_atoms: terms.min_fill_quantity_atoms,
    client_reference: terms.client_reference,
    identity_policy: { originator, market_makers },
    execution_deadline_ms: terms.execution_deadline_ms,
    audience: {
      invited_count: terms.audience.length,
      market_maker_ids: terms.audience.map(({ account_id: account }) => account),
    },
    award: awardFor(picture),
    cancellation: cancellation && {
      cancelled_at: cancellation.at,
      cancelled_by: cancellation.by,
      reason: cancellation.reason,
    },
  };
}

function makerFields(picture: Picture, maker: string, quote: Shown | undefined): Shown {
  const award = picture.awardOf(maker);
  const { cancellation } = picture;
  return {
    originator: originatorFor(picture, maker),
    my_quote: quote,
    award: award && rowOf(award),
    cancellation: cancellation && { cancelled_at: cancellation.at },
  };
}

/** All awards, as the originator sees them. */
export function awardFor(picture: Picture): Shown | undefined {
  const awards = [...picture.file.awards.values()];
  if (awards.length === 0) return undefined;
  const quantity = awards.reduce((sum, { terms }) => sum + BigInt(terms.quantity_atoms), 0n);
  const paid = awards.reduce(
    (sum, { terms }) => sum + BigInt(terms.price_atoms) * BigInt(terms.quantity_atoms),
    0n,
  );
  return {
    quantity_atoms: Number(quantity),
    // Rounded half up.
    average_price_atoms: Number((2n * paid + quantity) / (2n * quantity)),
    awards: awards.map((award) => ({
      ...rowOf(award),
      market_maker: winnerFor(picture, award.terms.maker),
    })),
  };
}

function rowOf({ terms, stage }: FiledAward): Shown {
  const { award_id, price_atoms, quantity_atoms } = terms;
  return { award_id, price_atoms, quantity_atoms, execution_status: stage };
}

function awardedQuotes(picture: Picture): Shown[] {
  return [...picture.file.awards.values()].map(({ terms }) => ({
    ...picture.quotes.get(terms.quote_id)?.shown,
    client_reference: undefined,
    market_maker: winnerFor(picture, terms.maker),
  }));
}
