import { BEGINNING, NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import { activeQuotes, type AuctionFile } from './auction-file.js';
import type { PolicyBook } from './policy-book.js';
import type { RawEvent } from './raw-events.js';
import { must } from './violation.js';

const BEGINNING_MILLIS = Number(BEGINNING / BigInt(NANOS_PER_MILLI));
const VOIDED = 'auctions are voided when a market of theirs has closed for good, and for nothing else';
const PULLED = 'what is protected is taken back';
/** Where nothing goes wrong each owner has looked at the policy by then, and written what follows of it. */
const LATEST_MILLIS = 1_600;
/** What it knows from its start it has written by then. */
const STARTED_MILLIS = 300;
/** What was on its way while the protection tripped. */
const MEANWHILE_MILLIS = 50;

/** Nobody orders anything in these worlds, so only a market can be the reason. */
export function mustBeGone({ type }: RawEvent, { id, terms }: AuctionFile, policies: PolicyBook): void {
  if (type !== 'AUCTION_VOIDED') return;
  const isGone = terms.routes.some((route) => policies.closedSince(route) !== undefined);
  must(isGone, VOIDED, () => `${id} is voided, and all its markets trade`);
}

/** In a world in which nothing goes wrong, or nothing but that owners end: what comes to its close had markets until shortly before. */
export function mustHaveBeenLeft(
  { id, terms }: AuctionFile,
  policies: PolicyBook,
  nowMillis: number,
  /** Since when its owner has been at work: what closed before that it knows from the start. */
  servesSince: number,
): void {
  const gone = terms.routes.find((route) => {
    const since = policies.closedSince(route) ?? Infinity;
    return nowMillis > Math.max(since + LATEST_MILLIS, servesSince + STARTED_MILLIS);
  });
  must(gone === undefined, VOIDED, () => `${id} goes on, and ${gone?.contract_id ?? ''} has closed long ago`);
}

/** In a world in which nothing goes wrong: at its close no quote is left of a maker whose protection tripped while it stood. */
export function mustHaveNoFrozen(file: AuctionFile, policies: PolicyBook, nowMillis: number): void {
  const { id, terms } = file;
  // Others are final or may only be bettered: nothing takes them back.
  if (terms.quote_revision_policy !== 'FREE') return;
  const latest = nowMillis - LATEST_MILLIS;
  for (const { id: quoteId, maker, versions } of activeQuotes(file)) {
    const stoodAt = Date.parse(versions[0]?.submitted_at ?? '') - BEGINNING_MILLIS + MEANWHILE_MILLIS;
    const since = policies.freezesOf(maker).find((at) => at > stoodAt && at < latest);
    must(since === undefined, PULLED, () => `${quoteId} of ${id} stands, and its maker's protection tripped`);
  }
}
