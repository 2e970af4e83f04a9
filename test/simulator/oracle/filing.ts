import { activeQuotes, isExpired, type AuctionFile, type FiledQuote } from './auction-file.js';
import { faultOfHold } from './holds.js';
import type { PlacedEvent, RawAward, RawData, RawEvent, RawQuote, RawTerms } from './raw-events.js';
import { must } from './violation.js';
import { winnersOf } from './winners.js';

const RULES = 'the rules of an auction';
const WINNERS = 'winners';
const HOLDS = 'what is set aside';
const DEADLINES = 'the execution deadline';
/** The length of `2026-11-20T12:00:00.123`, without finer digits. */
const MILLIS_END = 23;

/** Opens a file after checking that an auction may begin like this. */
export function opened({ shard, event }: PlacedEvent): AuctionFile {
  const { terms, hold = [] } = event.data;
  must(terms !== undefined, RULES, () => 'an auction without terms');
  const { auction_id: id, originator, audience } = terms;
  const makers = audience.map((party) => party.account_id);
  must(id === event.auction_id && id.startsWith(String(shard)), RULES, () => `${id} is in shard ${shard}`);
  must(!makers.includes(originator.account_id), RULES, () => `${id} invites its originator`);
  must(
    makers.length > 0 && new Set(makers).size === makers.length,
    RULES,
    () => `${id} invites ${makers.join()}`,
  );
  must(
    terms.opened_at === event.at && terms.closes_at > terms.opened_at,
    RULES,
    () => `${id} closes before it opens`,
  );
  const price =
    terms.limit_price_atoms ??
    (terms.side === 'BUY' ? terms.grid.max_price_atoms : terms.grid.price_tick_atoms);
  const isExact = (terms.grid.price_tick_atoms * terms.grid.quantity_step_atoms) % 1_000_000 === 0;
  const parts = isExact ? 1 : terms.max_winners;
  const fault = faultOfHold(terms, { side: terms.side, price, quantity: terms.quantity_atoms, parts }, hold);
  must(fault === undefined, HOLDS, () => `of ${id}'s originator: ${fault ?? ''}`);
  return {
    id,
    shard,
    places: [],
    terms,
    hold,
    stage: 'OPEN',
    status: 'OPEN',
    quotes: new Map(),
    awards: new Map(),
    executionDeadline: undefined,
    stories: new Map(),
    over: new Set(),
  };
}

/** Adds an event to its auction's file after checking that it is allowed. */
export function enter(file: AuctionFile, { sequence, event }: PlacedEvent): void {
  const { type, data, at } = event;
  const where = (): string => `${type} ${sequence} of ${file.id}`;
  const { closes_at: closesAt } = file.terms;
  // A winner's failed commands are part of its timeline until its award has ended.
  const isLate = type === 'QUOTE_REJECTED' && file.stage === 'AWARDED' && !file.over.has(data.maker ?? '');
  if (type.startsWith('QUOTE_') && type !== 'QUOTE_EXPIRED' && !isLate) {
    must(
      file.stage === 'OPEN' && at < closesAt,
      RULES,
      () => `${where()} at ${at}, closed ${closesAt}, ${file.stage}`,
    );
  }
  switch (type) {
    case 'QUOTE_SUBMITTED':
      submit(file, data, sequence, at);
      return;
    case 'QUOTE_REVISED':
      revise(file, data, sequence, at);
      return;
    case 'QUOTE_WITHDRAWN': {
      const quote = standing(file, data.quote_id, at);
      must(file.terms.quote_revision_policy === 'FREE', RULES, () => `${where()} although quotes are active`);
      quote.status = 'WITHDRAWN';
      quote.withdrawal = { by: data.by ?? '', isClaimed: event.command !== undefined };
      return;
    }
    case 'QUOTE_EXPIRED': {
      const quote = file.quotes.get(data.quote_id ?? '');
      must(file.stage === 'OPEN' && at <= closesAt, RULES, () => `${where()} after the close`);
      must(
        quote?.status === 'ACTIVE' && quote.expiresAt === at,
        RULES,
        () => `${where()} at ${at} before its time`,
      );
      quote.status = 'EXPIRED';
      return;
    }
    case 'AUCTION_CANCELLED':
    case 'AUCTION_VOIDED':
      must(file.stage === 'OPEN' && at < closesAt, RULES, () => `${where()}: it is ${file.stage}`);
      file.stage = 'OFF';
      file.status = type.slice('AUCTION_'.length);
      return;
    case 'AUCTION_CLOSED':
      must(
        file.stage === 'OPEN' && at === closesAt,
        RULES,
        () => `${where()} at ${at} instead of ${closesAt}`,
      );
      must(
        !activeQuotes(file).some(({ expiresAt }) => expiresAt !== undefined && expiresAt <= closesAt),
        RULES,
        () => `${where()} before expiries`,
      );
      file.stage = 'CLOSED';
      return;
    case 'AUCTION_AWARDED':
    case 'AUCTION_NOT_AWARDED':
      must(file.stage === 'CLOSED' && at === closesAt, RULES, () => `${where()}: it is ${file.stage}`);
      decide(file, data, at);
      return;
    case 'AUCTION_COMPLETED':
      complete(file, data.status ?? '', where);
      return;
    default:
      if (type.startsWith('EXECUTION_')) execute(file, event, where);
  }
}

function submit(
  file: AuctionFile,
  { quote, connection_id: connection }: RawData,
  sequence: number,
  at: string,
): void {
  must(quote !== undefined, RULES, () => 'a submission without a quote');
  const { quote_id: id, maker, revision } = quote;
  const where = (): string => `quote ${id} in ${file.id}`;
  must(
    file.terms.audience.some((party) => party.account_id === maker),
    RULES,
    () => `${where()} by ${maker}, who is not invited`,
  );
  must(id.startsWith(String(file.shard)) && !file.quotes.has(id), RULES, () => `${where()} comes twice`);
  const others = activeQuotes(file).filter((other) => other.maker === maker);
  must(
    others.every((other) => isExpired(other, at)),
    RULES,
    () => `${where()} beside an active one`,
  );
  must(revision === 1, RULES, () => `${where()} begins at revision ${revision}`);
  checkSize(file.terms, quote);
  file.quotes.set(id, {
    id,
    maker,
    price: quote.price_atoms,
    quantity: quote.quantity_atoms,
    minimum: quote.min_quantity_atoms,
    revision,
    expiresAt: quote.expires_at,
    priority: sequence,
    status: 'ACTIVE',
    hold: quote.hold,
    versions: [quote],
    connection,
  });
}

function revise(
  file: AuctionFile,
  { quote, keeps_priority: keeps }: RawData,
  sequence: number,
  at: string,
): void {
  must(quote !== undefined, RULES, () => 'a revision without a quote');
  const known = standing(file, quote.quote_id, at);
  const where = (): string => `revision ${quote.revision} of ${known.id}`;
  const { quote_revision_policy: policy } = file.terms;
  must(policy !== 'FINAL' && quote.maker === known.maker, RULES, where);
  must(quote.revision === known.revision + 1, RULES, () => `${where()} follows ${known.revision}`);
  checkSize(file.terms, quote);
  const staysPut = quote.price_atoms === known.price && quote.quantity_atoms <= known.quantity;
  must(keeps === staysPut, RULES, () => `${where()} says ${String(keeps)} of its priority`);
  known.price = quote.price_atoms;
  known.quantity = quote.quantity_atoms;
  known.minimum = quote.min_quantity_atoms;
  known.revision = quote.revision;
  known.expiresAt = quote.expires_at;
  known.hold = quote.hold;
  known.versions.push(quote);
  if (!staysPut) known.priority = sequence;
}

function checkSize(terms: RawTerms, quote: RawQuote): void {
  const { side, quantity_atoms: size } = terms;
  const { price_atoms: price, quantity_atoms: quantity } = quote;
  const isSized = quantity > 0 && quantity <= size;
  must(isSized, RULES, () => `quote ${quote.quote_id} of ${quantity} in ${terms.auction_id} of ${size}`);
  const makerSide = side === 'BUY' ? 'SELL' : 'BUY';
  const fault = faultOfHold(terms, { side: makerSide, price, quantity, parts: 1 }, quote.hold);
  must(fault === undefined, HOLDS, () => `for quote ${quote.quote_id}: ${fault ?? ''}`);
}

function standing(file: AuctionFile, id: string | undefined, at: string): FiledQuote {
  const quote = file.quotes.get(id ?? '');
  must(
    quote?.status === 'ACTIVE' && !isExpired(quote, at),
    RULES,
    () => `quote ${id ?? ''} of ${file.id} is not active at ${at}`,
  );
  return quote;
}

function decide(file: AuctionFile, { awards = [], execution_deadline: deadline }: RawData, at: string): void {
  const active = activeQuotes(file);
  const expected = winnersOf(file.terms, active);
  const awarded = awards.map((award) => `${award.quote_id} ${award.quantity_atoms}`);
  const wanted = expected.map(({ id, quantity }) => `${id} ${quantity}`);
  must(
    awarded.join() === wanted.join(),
    WINNERS,
    () => `of ${file.id}: ${awarded.join() || 'no one'} instead of ${wanted.join() || 'no one'}`,
  );
  for (const award of awards) {
    must(!file.awards.has(award.award_id), WINNERS, () => `${award.award_id} twice`);
    checkAward(file, award);
    file.awards.set(award.award_id, { terms: award, stage: 'PENDING', attempt: 0 });
  }
  if (awards.length > 0) {
    const allowed = millisBetween(at, deadline ?? '');
    must(
      allowed === file.terms.execution_deadline_ms,
      DEADLINES,
      () => `of ${file.id}, ${file.terms.execution_deadline_ms} ms after ${at}, is ${deadline ?? 'none'}`,
    );
    file.executionDeadline = deadline;
  }
  for (const quote of active) quote.status = 'JUDGED';
  file.stage = awards.length > 0 ? 'AWARDED' : 'NOT_AWARDED';
  file.status = awards.length > 0 ? 'AWARDED' : 'NO_AWARD';
}

/** Undefined unless the difference is a whole number of milliseconds. */
function millisBetween(from: string, to: string): number | undefined {
  const [whole, rest] = [(instant: string) => Date.parse(`${instant.slice(0, MILLIS_END)}Z`), MILLIS_END];
  return from.slice(rest) === to.slice(rest) ? whole(to) - whole(from) : undefined;
}

function checkAward(file: AuctionFile, award: RawAward): void {
  const quote = file.quotes.get(award.quote_id);
  must(
    quote?.price === award.price_atoms && quote.maker === award.maker,
    WINNERS,
    () => `${award.award_id} is not its quote's`,
  );
  const { side } = file.terms;
  const trade = { price: award.price_atoms, quantity: award.quantity_atoms, parts: 1 };
  const faults = [
    faultOfHold(file.terms, { ...trade, side }, award.originator_hold),
    faultOfHold(file.terms, { ...trade, side: side === 'BUY' ? 'SELL' : 'BUY' }, award.maker_hold),
  ];
  for (const fault of faults)
    must(fault === undefined, HOLDS, () => `for award ${award.award_id}: ${fault ?? ''}`);
}

function execute(file: AuctionFile, { type, data }: RawEvent, where: () => string): void {
  const { award_id: id, attempt = 0, settlement } = data;
  const award = file.awards.get(id ?? '');
  must(award !== undefined && file.stage === 'AWARDED', RULES, () => `${where()}: there is no such award`);
  must(
    award.stage === 'PENDING' || award.stage === 'SUBMITTED',
    RULES,
    () => `${where()}: it is already ${award.stage}`,
  );
  const step = type.slice('EXECUTION_'.length);
  must(
    (award.stage === 'PENDING') === (step === 'SUBMITTED') || (step === 'FAILED' && attempt === 0),
    RULES,
    () => `${where()}: its story has a gap`,
  );
  const least = step === 'RETRYING' ? award.attempt + 1 : award.attempt;
  must(attempt >= least, RULES, () => `${where()}: attempt ${attempt} follows ${award.attempt}`);
  award.attempt = attempt;
  award.stage = step === 'CONFIRMED' || step === 'FAILED' ? step : 'SUBMITTED';
  if (settlement !== undefined) award.settlement = settlement;
}

function complete(file: AuctionFile, status: string, where: () => string): void {
  const stages = [...file.awards.values()].map(({ stage }) => stage);
  const ended = stages.every((stage) => stage === 'CONFIRMED' || stage === 'FAILED');
  const won = stages.filter((stage) => stage === 'CONFIRMED').length;
  const settled = won === 0 ? 'EXECUTION_FAILED' : won === stages.length ? 'SETTLED' : 'PARTIALLY_SETTLED';
  const expected = file.stage === 'AWARDED' && ended ? settled : file.status;
  must(
    file.stage !== 'OPEN' && file.stage !== 'CLOSED' && file.stage !== 'COMPLETED',
    RULES,
    () => `${where()}: it is ${file.stage}`,
  );
  must(status === expected, RULES, () => `${where()} as ${status} instead of ${expected}`);
  file.stage = 'COMPLETED';
  file.status = status;
}
