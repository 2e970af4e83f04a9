import { partiesOf, type AuctionFile } from './auction-file.js';
import type { PlacedEvent, RawEvent } from './raw-events.js';
import type { Picture } from './told/picture.js';
import { lossOf } from './told/results.js';
import type { Shown } from './told/shown.js';
import { awardFor, sightFor, statusFor } from './told/sights.js';

const OWN: Readonly<Record<string, string>> = {
  QUOTE_SUBMITTED: 'QUOTE_ACCEPTED',
  QUOTE_REVISED: 'QUOTE_REVISED',
  QUOTE_WITHDRAWN: 'QUOTE_WITHDRAWN',
  QUOTE_EXPIRED: 'QUOTE_EXPIRED',
  QUOTE_REJECTED: 'QUOTE_REJECTED',
};
const EVERYBODYS: ReadonlySet<string> = new Set(['AUCTION_CANCELLED', 'AUCTION_VOIDED', 'AUCTION_CLOSED']);
const ENDS: ReadonlySet<string> = new Set(['EXECUTION_CONFIRMED', 'EXECUTION_FAILED']);
const DECISIONS: ReadonlySet<string> = new Set(['AUCTION_AWARDED', 'AUCTION_NOT_AWARDED']);

interface Entry {
  readonly kind: string;
  readonly actor: string;
  readonly data: Shown;
}

/**
 * Adds to every party's timeline what the contract's table shows it of this event. File and picture already
 * include the event.
 */
export function tell(file: AuctionFile, picture: Picture, { event, sequence }: PlacedEvent): void {
  for (const account of partiesOf(file)) {
    if (file.over.has(account)) continue;
    const isOriginator = account === file.terms.originator.account_id;
    const entries = isOriginator ? toOriginator(picture, event) : toMaker(picture, event, account);
    const isOver = isOriginator
      ? event.type === 'AUCTION_COMPLETED'
      : isOverForMaker(picture, event, account);
    if (isOver) {
      const data = { status: statusFor(picture, account) };
      entries.push({ kind: 'AUCTION_COMPLETED', actor: 'SYSTEM', data });
      file.over.add(account);
    }
    const story = file.stories.get(account) ?? [];
    file.stories.set(account, story);
    const version = story.length + entries.length;
    for (const entry of entries) {
      const isLast = story.length + 1 === version;
      const line = { ...entry, at: event.at, sequence };
      story.push(isLast ? { ...line, sight: sightFor(picture, account, version) } : line);
    }
  }
}

function toOriginator(picture: Picture, { type, data }: RawEvent): Entry[] {
  const account = picture.file.terms.originator.account_id;
  const bySystem = (told: Shown): Entry[] => [{ kind: type, actor: 'SYSTEM', data: told }];
  const actor = data.by === 'ORIGINATOR' ? 'SELF' : (data.by ?? '');
  if (type === 'AUCTION_OPENED') {
    return [{ kind: type, actor: 'SELF', data: { auction: sightFor(picture, account, 1).view } }];
  }
  if (type === 'AUCTION_CANCELLED') return [{ kind: type, actor, data: { reason: data.reason } }];
  if (type === 'AUCTION_VOIDED') return [{ kind: type, actor, data: {} }];
  if (type === 'AUCTION_CLOSED') return bySystem({});
  if (type === 'AUCTION_AWARDED') return bySystem({ award: awardFor(picture) });
  if (type === 'AUCTION_NOT_AWARDED') return bySystem({ reason: data.reason });
  return type.startsWith('EXECUTION_') ? bySystem(stepOf(data)) : [];
}

function toMaker(picture: Picture, event: RawEvent, account: string): Entry[] {
  const { type, data } = event;
  if (type === 'AUCTION_OPENED') {
    const auction = sightFor(picture, account, 1).view;
    return [
      { kind: type, actor: 'ORIGINATOR', data: { auction } },
      { kind: 'INVITATION_RECEIVED', actor: 'ORIGINATOR', data: {} },
    ];
  }
  if (EVERYBODYS.has(type)) return [{ kind: type, actor: data.by ?? 'SYSTEM', data: {} }];
  if (OWN[type] !== undefined) return ofOwnQuote(picture, event, account);
  if (DECISIONS.has(type)) return resultFor(picture, account);
  const isOwn = type.startsWith('EXECUTION_') && ownAward(picture, account) === data.award_id;
  return isOwn ? [{ kind: type, actor: 'SYSTEM', data: stepOf(data) }] : [];
}

function ofOwnQuote(picture: Picture, { type, data }: RawEvent, account: string): Entry[] {
  if ((data.quote?.maker ?? data.maker) !== account) return [];
  const kind = OWN[type] ?? '';
  if (type === 'QUOTE_REJECTED') {
    const { operation, error, message, quote_id } = data;
    return [{ kind, actor: 'SELF', data: { operation, error, message, quote_id } }];
  }
  const quote = picture.quotes.get(data.quote?.quote_id ?? data.quote_id ?? '')?.shown;
  return [{ kind, actor: actorOf(type, data.by), data: { quote } }];
}

function actorOf(type: string, by: string | undefined): string {
  if (type === 'QUOTE_EXPIRED') return 'SYSTEM';
  if (type !== 'QUOTE_WITHDRAWN' || by === 'MARKET_MAKER') return 'SELF';
  return by === 'OPERATOR' ? by : 'SYSTEM';
}

function resultFor(picture: Picture, account: string): Entry[] {
  const award = picture.awardOf(account)?.terms;
  if (award !== undefined) {
    const { quote_id, award_id, price_atoms, quantity_atoms } = award;
    const data = { quote_id, award_id, price_atoms, quantity_atoms };
    return [{ kind: 'QUOTE_AWARDED', actor: 'SYSTEM', data }];
  }
  const judged = picture.judgedOf(account);
  if (judged === undefined) return [];
  const data = { quote_id: judged, ...lossOf(picture.file, judged) };
  return [{ kind: 'QUOTE_NOT_AWARDED', actor: 'SYSTEM', data }];
}

function stepOf({ award_id, attempt, reason }: RawEvent['data']): Shown {
  return { award_id, attempt, reason };
}

/** A maker without an award is finished at the decision; one with an award, when its award ends. */
function isOverForMaker(picture: Picture, { type, data }: RawEvent, account: string): boolean {
  const award = ownAward(picture, account);
  if (DECISIONS.has(type)) return award === undefined;
  if (award !== undefined) return ENDS.has(type) && award === data.award_id;
  return type === 'AUCTION_COMPLETED';
}

function ownAward(picture: Picture, account: string): string | undefined {
  return picture.awardOf(account)?.terms.award_id;
}
