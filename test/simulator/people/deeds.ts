import { instantFromNanos } from '#libs/base/instant.js';
import { shardOfId } from '#libs/auction/protocol/routing.js';
import type { Random } from '../kernel/random.js';
import type { Promised } from '../oracle/promises.js';
import type { HttpRequest } from '../processes/http-desk.js';
import type { PlannedAction } from '../plan/plan.js';
import { FOG, GRIDS, GROUP_OWNERS, MAKERS, RAIN, RAIN_AT_B, type Contract } from './cast.js';
import type { KnownAuction, Knowledge } from './knowledge.js';

interface Command {
  readonly command: Promised;
  readonly request: Omit<HttpRequest, 'id'>;
}

/** The command for an action; undefined if there is nothing to do. */
export function commandFor(
  deed: PlannedAction,
  known: Knowledge,
  random: Random,
  nowNanos: bigint,
): Command | undefined {
  switch (deed.act) {
    case 'CREATE':
      return create(deed, random);
    case 'CANCEL': {
      const anybodys = random.chance(0.1);
      const auction = recent(
        deed,
        known,
        random,
        ({ originator }) => anybodys || originator === deed.account,
      );
      const body = random.pick<object>([{}, {}, { reason: 'no' }, { reason: 'because '.repeat(100) }]);
      return auction === undefined ? undefined : onAuction('CANCEL', 'cancelAuction', deed, auction.id, body);
    }
    case 'SUBMIT': {
      const isStray = random.chance(0.05);
      const auction = recent(deed, known, random, ({ makers }) => isStray || makers.includes(deed.account));
      return auction === undefined ? undefined : submit(deed, auction, random, nowNanos);
    }
    case 'REVISE':
    case 'WITHDRAW':
      return onQuote(deed, known, random, nowNanos);
    case 'WITHDRAW_ALL':
      return withdrawAll(deed, known, random);
    default:
      return undefined;
  }
}

function create(deed: PlannedAction, random: Random): Command {
  const good = createBody(audienceFor(deed.account, random.fork('audience')), random);
  const drafted = random.chance(0.1) ? spoiled(good, random) : good;
  const timed = deed.closesAt === undefined ? drafted : closingAt(drafted, deed.closesAt);
  const body = deed.identity === undefined ? timed : { ...timed, identity_policy: deed.identity };
  const content = JSON.stringify(body);
  const command = {
    operation: 'CREATE',
    account: deed.account,
    auctionId: '',
    key: deed.key,
    content,
  } as const;
  return { command, request: { operation: 'createAuction', body, key: deed.key } };
}

function closingAt(draft: CreateDraft, closesAt: string): object {
  const fields = Object.entries(draft).filter(([name]) => name !== 'duration_ms');
  return { ...Object.fromEntries(fields), audience: { market_maker_ids: MAKERS }, closes_at: closesAt };
}

/** Often all quotes, otherwise those in some auctions, at one venue, or both. */
function withdrawAll({ account, key }: PlannedAction, known: Knowledge, random: Random): Command {
  const some = random.shuffled(known.auctions.slice(-8).map(({ id }) => id));
  const auctions = { auction_ids: some.slice(0, random.between(0, some.length)) };
  const venue = { venue: random.pick([RAIN, RAIN_AT_B]).venue };
  const body = random.pick<object>([{}, {}, {}, auctions, venue, { ...auctions, ...venue }]);
  const command = {
    operation: 'WITHDRAW_ALL',
    account,
    auctionId: '',
    key,
    content: JSON.stringify(body),
  } as const;
  return { command, request: { operation: 'withdrawAllQuotes', body, key } };
}

interface CreateDraft {
  readonly side: 'BUY' | 'SELL';
  readonly quantity_atoms: number;
  readonly routes: readonly Contract[];
  readonly audience: object;
  readonly duration_ms: number;
  readonly [field: string]: unknown;
}

function someMakers(random: Random): readonly string[] {
  return random.shuffled(MAKERS).slice(0, random.between(1, MAKERS.length));
}

/** Makers by name, the originator's own groups, both, or all; sometimes with some excluded. */
function audienceFor(account: string, random: Random): object {
  const listed = { market_maker_ids: someMakers(random) };
  const own = [...GROUP_OWNERS].flatMap(([id, owner]) => (owner === account ? [id] : []));
  const groups = { group_ids: random.shuffled(own).slice(0, random.between(1, own.length)) };
  const few = { ...groups, market_maker_ids: [random.pick(MAKERS)] };
  const all = { all_eligible: true };
  const kinds = own.length === 0 ? [listed, all] : [listed, listed, all, all, groups, groups, few];
  const audience = random.pick<object>(kinds);
  if (!random.chance(0.2)) return audience;
  return { ...audience, exclude_market_maker_ids: random.shuffled(MAKERS).slice(0, random.between(1, 2)) };
}

function createBody(audience: object, random: Random): CreateDraft {
  const routes = random.pick([[RAIN], [RAIN, RAIN_AT_B], [RAIN_AT_B], [FOG], [FOG]]);
  const { tick, step } = gridOf(routes);
  const isSplit = random.chance(0.5);
  const quantity = step * random.between(1, 12);
  return {
    side: random.pick(['BUY', 'SELL']),
    quantity_atoms: quantity,
    routes,
    audience,
    duration_ms: random.between(1_000, 6_000),
    execution_deadline_ms: random.pick([5_000, 8_000]),
    ...(isSplit ? { allocation: 'SPLIT', max_winners: random.between(2, 4) } : {}),
    ...(random.chance(0.5) ? { limit_price_atoms: priceOn(tick, random) } : {}),
    ...(random.chance(0.3) ? { min_fill_quantity_atoms: step * random.between(1, quantity / step) } : {}),
    ...(random.chance(0.4) ? { quote_revision_policy: random.pick(['FREE', 'IMPROVE_ONLY', 'FINAL']) } : {}),
    ...(random.chance(0.4)
      ? { result_disclosure: random.pick(['WINNING_PRICE', 'WINNING_PRICE_AND_RANK']) }
      : {}),
    ...(random.chance(0.3) ? { identity_policy: identities(random) } : {}),
    ...(random.chance(0.3) ? { client_reference: referenceOf(random) } : {}),
  };
}

function identities(random: Random): object {
  return random.pick<object>([
    { originator: random.pick(['DISCLOSED', 'WINNER_ONLY']) },
    { market_makers: 'DISCLOSED_AFTER_AWARD' },
    { originator: 'DISCLOSED', market_makers: 'DISCLOSED_AFTER_AWARD' },
  ]);
}

function referenceOf(random: Random): string {
  return `our number ${random.below(1_000)}`;
}

function spoiled(body: CreateDraft, random: Random): CreateDraft {
  return random.pick<CreateDraft>([
    { ...body, quantity_atoms: body.quantity_atoms + 1 },
    { ...body, audience: { all_eligible: true, exclude_market_maker_ids: MAKERS } },
    { ...body, routes: [RAIN, FOG] },
  ]);
}

function gridOf(routes: readonly Contract[]): { readonly tick: number; readonly step: number } {
  const [first] = routes;
  const grid = first === undefined ? undefined : GRIDS.get(first);
  return grid ?? { tick: 1_000, step: 1_000_000 };
}

function submit(deed: PlannedAction, auction: KnownAuction, random: Random, nowNanos: bigint): Command {
  const { tick, step, quantity } = auction;
  const most = quantity / step;
  const size = random.between(1, most);
  const price = priceOn(tick, random);
  const good = {
    price_atoms: price,
    quantity_atoms: step * size,
    ...(random.chance(0.4) ? { min_quantity_atoms: step * random.between(1, size) } : {}),
    ...(random.chance(0.3) ? { expires_at: soon(random, nowNanos) } : {}),
    ...(random.chance(0.2) ? { client_reference: referenceOf(random) } : {}),
  };
  const body = random.chance(0.08)
    ? random.pick<object>([
        { ...good, price_atoms: price + 1 },
        { ...good, quantity_atoms: quantity + step },
      ])
    : good;
  return onAuction('SUBMIT', 'submitQuote', deed, auction.id, body);
}

function soon(random: Random, nowNanos: bigint): string {
  return instantFromNanos(nowNanos + BigInt(random.between(100, 5_000)) * 1_000_000n);
}

function onQuote(
  deed: PlannedAction,
  known: Knowledge,
  random: Random,
  nowNanos: bigint,
): Command | undefined {
  const isForeign = deed.isForeign === true;
  const own = known.quotes.filter(({ maker }) => (maker === deed.account) !== isForeign);
  const quote = own.at(-1 - random.below(Math.min(4, Math.max(1, own.length))));
  const auction = known.auctions.find(({ id }) => id === quote?.auctionId);
  if (quote === undefined || auction === undefined) return undefined;
  const expected = random.chance(0.1) ? quote.revision + 1 : quote.revision;
  const isRevision = deed.act === 'REVISE';
  const revised = (): object =>
    auction.isImproveOnly && random.fork('improve').chance(0.5)
      ? larger(auction, random.fork('larger'))
      : terms(auction, random, nowNanos);
  const body = isRevision
    ? { expected_revision: expected, ...revised() }
    : random.chance(0.5)
      ? { expected_revision: expected }
      : {};
  const operation = isRevision ? 'REVISE' : 'WITHDRAW';
  return {
    command: {
      operation,
      account: deed.account,
      auctionId: quote.auctionId,
      key: deed.key,
      content: JSON.stringify({ quote_id: quote.id, ...body }),
    },
    request: {
      operation: isRevision ? 'reviseQuote' : 'withdrawQuote',
      ids: { auctionID: quote.auctionId, quoteID: quote.id },
      body,
      key: deed.key,
    },
  };
}

/** The largest size, which improves the quote unless it raises the minimum size too. */
function larger({ step, quantity }: KnownAuction, random: Random): object {
  return {
    quantity_atoms: quantity,
    min_quantity_atoms: step * random.between(1, Math.min(3, quantity / step)),
  };
}

/** Usually price or size; the other terms stay. */
function terms({ tick, step, quantity }: KnownAuction, random: Random, nowNanos: bigint): object {
  const price = priceOn(tick, random);
  const size = step * random.between(1, quantity / step);
  const least = step * random.between(1, Math.min(3, quantity / step));
  const usual = random.pick<object>([
    { price_atoms: price },
    { quantity_atoms: size },
    { price_atoms: price, quantity_atoms: size },
  ]);
  if (random.chance(0.6)) return usual;
  return random.pick<object>([
    { min_quantity_atoms: least },
    { expires_at: soon(random, nowNanos) },
    { client_reference: referenceOf(random) },
    { ...usual, min_quantity_atoms: least, expires_at: soon(random, nowNanos) },
  ]);
}

function onAuction(
  operation: 'CANCEL' | 'SUBMIT',
  operationId: string,
  { account, key }: PlannedAction,
  auctionId: string,
  body: object,
): Command {
  return {
    command: { operation, account, auctionId, key, content: JSON.stringify(body) },
    request: { operation: operationId, ids: { auctionID: auctionId }, body, key },
  };
}

/** Often a round price, so that quotes meet at the same one. */
function priceOn(tick: number, random: Random): number {
  if (random.chance(0.3)) return tick * Math.floor((100_000 * random.between(4, 6)) / tick);
  return tick * random.between(Math.ceil(300_000 / tick), Math.floor(700_000 / tick));
}

/** One of the latest auctions that fit. */
function recent(
  { shard, about }: PlannedAction,
  known: Knowledge,
  random: Random,
  does: (auction: KnownAuction) => boolean,
): KnownAuction | undefined {
  if (about !== undefined) return known.auctions.find((auction) => does(auction) && auction.key === about);
  const all = known.auctions.filter(
    (auction) => does(auction) && (shard ?? shardOfId(auction.id)) === shardOfId(auction.id),
  );
  return all.at(-1 - random.below(Math.min(5, Math.max(1, all.length))));
}
