import { partiesOf, type AuctionFile } from './auction-file.js';
import type { PlacedEvent, RawEvent } from './raw-events.js';

const OWN: Readonly<Record<string, string>> = {
  QUOTE_SUBMITTED: 'QUOTE_ACCEPTED',
  QUOTE_REVISED: 'QUOTE_REVISED',
  QUOTE_WITHDRAWN: 'QUOTE_WITHDRAWN',
  QUOTE_EXPIRED: 'QUOTE_EXPIRED',
  QUOTE_REJECTED: 'QUOTE_REJECTED',
};
const EVERYBODYS: ReadonlySet<string> = new Set(['AUCTION_CANCELLED', 'AUCTION_VOIDED', 'AUCTION_CLOSED']);
const ENDS: ReadonlySet<string> = new Set(['EXECUTION_CONFIRMED', 'EXECUTION_FAILED']);

/** Adds to everybody's timeline what the contract's table gives them of this event. The file already includes the event. */
export function tell(file: AuctionFile, { event, sequence }: PlacedEvent): void {
  for (const account of partiesOf(file)) {
    if (file.over.has(account)) continue;
    const isOriginator = account === file.terms.originator.account_id;
    const kinds = isOriginator ? toOriginator(event) : toMaker(file, event, account);
    const isOver = isOriginator ? event.type === 'AUCTION_COMPLETED' : isOverForMaker(file, event, account);
    const story = file.stories.get(account) ?? [];
    file.stories.set(account, story);
    for (const kind of kinds) story.push({ kind, at: event.at, sequence });
    if (!isOver) continue;
    story.push({ kind: 'AUCTION_COMPLETED', at: event.at, sequence });
    file.over.add(account);
  }
}

function toOriginator({ type }: RawEvent): string[] {
  const isTold =
    type === 'AUCTION_OPENED' || EVERYBODYS.has(type) || /^(AUCTION_(NOT_)?AWARDED|EXECUTION_)/.test(type);
  return isTold ? [type] : [];
}

function toMaker(file: AuctionFile, { type, data }: RawEvent, account: string): string[] {
  if (type === 'AUCTION_OPENED') return [type, 'INVITATION_RECEIVED'];
  if (EVERYBODYS.has(type)) return [type];
  const own = OWN[type];
  if (own !== undefined) return (data.quote?.maker ?? data.maker) === account ? [own] : [];
  if (type === 'AUCTION_AWARDED' || type === 'AUCTION_NOT_AWARDED') {
    if (awardOf(file, account) !== undefined) return ['QUOTE_AWARDED'];
    return wasJudged(file, account) ? ['QUOTE_NOT_AWARDED'] : [];
  }
  return type.startsWith('EXECUTION_') && awardOf(file, account) === data.award_id ? [type] : [];
}

/** Without an award a maker's auction ends with the decision, else with its own award. */
function isOverForMaker(file: AuctionFile, { type, data }: RawEvent, account: string): boolean {
  const award = awardOf(file, account);
  if (type === 'AUCTION_AWARDED' || type === 'AUCTION_NOT_AWARDED') return award === undefined;
  if (award !== undefined) return ENDS.has(type) && award === data.award_id;
  return type === 'AUCTION_COMPLETED';
}

function awardOf(file: AuctionFile, account: string): string | undefined {
  return [...file.awards.values()].find(({ terms }) => terms.maker === account)?.terms.award_id;
}

function wasJudged(file: AuctionFile, account: string): boolean {
  return [...file.quotes.values()].some(({ maker, status }) => maker === account && status === 'JUDGED');
}
