import { z } from 'zod';
import { parseDecimal } from '#libs/base/decimals.js';
import { FAULT_NAMES, CALL_KINDS } from '../faults.js';
import { evenGrid, type PriceGrid } from '../matching/grid.js';
import { ONE_DOLLAR } from '../matching/order-book.js';
import type { OpenVenue } from '../open-venue.js';
import type { CommandOf, MarketTerms, PracticeVenueId } from '../venue/terms.js';
import type { ListedMarket } from '../venue/venue-reads.js';
import { plainText } from '../venues/http-exchange.js';
import type { VenueAnswer, VenueRequest } from '../venues/venue-shell.js';
import { marketInFull, marketRecord } from './records.js';

const PLACES = 6;
const YEAR_MS = 365 * 86_400_000;
const SECOND_MS = 1_000;
const MOST_MS = 600_000;
const MOST_BANDS = 100;

/** Millionths, from a number or its text. */
const decimal = z.union([z.string().max(40), z.number()]).transform((value, context) => {
  const units = parseDecimal(String(value), PLACES)?.units;
  if (units === undefined || units < 0n || units > BigInt(Number.MAX_SAFE_INTEGER)) {
    context.addIssue({ code: 'custom', message: 'it must be a decimal of at most 6 places' });
    return z.NEVER;
  }
  return Number(units);
});
const marketBody = z.strictObject({
  exchange_id: z.string(),
  title: z.string().min(1).max(200).optional(),
  neg_risk: z.boolean().default(false),
  tick_size: decimal.refine((step) => step > 0, 'it must be more than nothing').optional(),
  bands: z
    .array(z.strictObject({ start: decimal, end: decimal, step: decimal }))
    .min(1)
    .max(MOST_BANDS)
    .optional(),
  grid: z.boolean().default(true),
  shard: z.union([z.literal(0), z.literal(1)]).optional(),
  closes_in_s: z.number().int().min(1).max(YEAR_MS).optional(),
});
const statusBody = z.strictObject({ status: z.enum(['open', 'halted', 'closed']) });
const resolveBody = z.strictObject({
  payouts: z
    .tuple([decimal, decimal])
    .refine(([first, second]) => first + second === ONE_DOLLAR, 'they add up to 1'),
  /** For venues on a chain. Here there is no chain to report to. */
  report: z.literal(true).optional(),
});
const faultBody = z.strictObject({
  exchange_id: z.string(),
  fault: z.enum(FAULT_NAMES),
  calls: z
    .array(z.enum(CALL_KINDS))
    .min(1)
    .default([...CALL_KINDS]),
  count: z.number().int().min(1).max(1_000_000).default(1),
  ms: z.number().int().min(0).max(MOST_MS).default(SECOND_MS),
});
const faucetBody = z.strictObject({
  exchange_id: z.string(),
  account: z.string().min(1).max(128),
  amount: decimal,
  /** Not in the contract: credits shares instead of money, without a seller. */
  shares: z.strictObject({ market_id: z.string(), outcome: z.string() }).optional(),
});
const accountBody = z.strictObject({
  exchange_id: z.string(),
  /** Not in the contract: adds a key to an existing account, such as the vault's. */
  account: z
    .string()
    .regex(/^[\w-]{1,64}$/)
    .optional(),
});

const MARKET_PATH = /^\/markets\/([^/]+)\/([^/]+)(?:\/(status|resolve))?$/;

/**
 * The interface for tests and the launcher to set up practice venues. Loopback only, without credentials, and not
 * part of the product's API.
 */
export class AdminSurface {
  private readonly venues: ReadonlyMap<PracticeVenueId, OpenVenue>;

  constructor(venues: readonly OpenVenue[]) {
    this.venues = new Map(venues.map((one) => [one.venue.exchange_id, one]));
  }

  async handle({ method, path, body, query }: VenueRequest): Promise<VenueAnswer> {
    const input = body === '' ? {} : parsed(body);
    if (method === 'POST' && path === '/markets') return this.list(input);
    if (method === 'GET' && path === '/markets') return this.markets(query.get('exchange_id'));
    if (method === 'POST' && path === '/faults') return this.arm(input);
    if (method === 'DELETE' && path === '/faults') return this.lift();
    if (method === 'POST' && path === '/faucet') return this.credit(input);
    if (method === 'POST' && path === '/accounts') return this.openAccount(input);
    const [, exchangeId = '', marketId = '', action] = MARKET_PATH.exec(path) ?? [];
    const found = this.find(plainText(exchangeId), plainText(marketId));
    if (found === undefined) return fault(404, 'There is no such path, venue or market.');
    const { open, market } = found;
    if (method === 'GET' && action === undefined) {
      await open.venue.durable();
      const { exchange_id: id, reads } = open.venue;
      return { status: 200, body: marketInFull(id, market, reads, open.book) };
    }
    if (method !== 'POST' || action === undefined) return fault(405, 'This path takes no such method.');
    return action === 'status' ? this.setStatus(open, market, input) : this.resolve(open, market, input);
  }

  private async list(input: unknown): Promise<VenueAnswer> {
    const read = marketBody.safeParse(input);
    if (!read.success) return bad(read.error);
    const asked = read.data;
    const open = this.venueOf(asked.exchange_id);
    if (open === undefined) return fault(400, 'No such venue is here.');
    const { venue, shell } = open;
    const now = venue.now();
    const { title, neg_risk, shard } = asked;
    const made = shell.newMarket(
      { neg_risk, ...(title === undefined ? {} : { title }), ...(shard === undefined ? {} : { shard }) },
      now,
    );
    const grid = gridOf(asked, made.grid);
    if (grid === undefined) return fault(400, 'Bands begin at 0, end at 1 and follow each other.');
    const closesIn = asked.closes_in_s === undefined ? YEAR_MS : asked.closes_in_s * SECOND_MS;
    const market: MarketTerms = {
      ...{ ...made, grid, publishes_grid: asked.grid, closes_at: now + closesIn, seeded: false },
    };
    await venue.ask({ do: 'list', market });
    return this.record(open, market.market_id, 201);
  }

  /** Not in the contract: all markets, or those of one venue. */
  private markets(exchangeId: string | null): VenueAnswer {
    const venues = [...this.venues].filter(([id]) => exchangeId === null || id === exchangeId);
    const markets = venues.flatMap(([id, { venue }]) =>
      [...venue.reads.markets()].map((market) => marketRecord(id, market)),
    );
    return { status: 200, body: { markets } };
  }

  private async setStatus(open: OpenVenue, { terms }: ListedMarket, input: unknown): Promise<VenueAnswer> {
    const read = statusBody.safeParse(input);
    if (!read.success) return bad(read.error);
    const { market_id } = terms;
    const reply = await open.venue.ask({ do: 'status', market_id, status: read.data.status });
    return reply.ok ? this.record(open, market_id) : fault(409, `The market is ${reply.refusal}.`);
  }

  private async resolve(open: OpenVenue, { terms }: ListedMarket, input: unknown): Promise<VenueAnswer> {
    const read = resolveBody.safeParse(input);
    if (!read.success) return bad(read.error);
    const { market_id } = terms;
    const reply = await open.venue.ask({ do: 'resolve', market_id, payouts: read.data.payouts });
    return reply.ok ? this.record(open, market_id) : fault(409, `The market is ${reply.refusal}.`);
  }

  private arm(input: unknown): VenueAnswer {
    const read = faultBody.safeParse(input);
    if (!read.success) return bad(read.error);
    const open = this.venueOf(read.data.exchange_id);
    if (open === undefined) return fault(400, 'No such venue is here.');
    open.faults.arm(read.data);
    return { status: 200, body: read.data };
  }

  private async lift(): Promise<VenueAnswer> {
    await Promise.all([...this.venues.values()].map(({ faults }) => faults.lift()));
    return { status: 204 };
  }

  private async credit(input: unknown): Promise<VenueAnswer> {
    const read = faucetBody.safeParse(input);
    if (!read.success) return bad(read.error);
    const { exchange_id, account: name, amount, shares: named } = read.data;
    const open = this.venueOf(exchange_id);
    const market = named === undefined ? undefined : open?.venue.reads.market(named.market_id);
    const shares = sharesOf(market, named?.outcome);
    if (named !== undefined && shares === undefined) return fault(400, 'No such market or outcome is here.');
    const account = open?.shell.creditedAccount(name, market?.terms.shard);
    if (open === undefined || account === undefined) return fault(400, 'No such venue or account is here.');
    const movement_id = open.venue.newId();
    const what = { amount: String(amount), ...(shares === undefined ? {} : { shares }) };
    await open.venue.ask({ do: 'credit', account, movement_id, ...what });
    return { status: 200, body: { exchange_id, account: name, movement_id } };
  }

  private async openAccount(input: unknown): Promise<VenueAnswer> {
    const read = accountBody.safeParse(input);
    if (!read.success) return bad(read.error);
    const opened = await this.venueOf(read.data.exchange_id)?.shell.openAccount?.(read.data.account);
    return opened === undefined
      ? fault(400, 'No venue here gives out keys by that name.')
      : { status: 201, body: opened };
  }

  private record({ venue }: OpenVenue, marketId: string, status = 200): VenueAnswer {
    const market = venue.reads.market(marketId);
    return market === undefined
      ? fault(404, 'There is no such market.')
      : { status, body: marketRecord(venue.exchange_id, market) };
  }

  private venueOf(exchangeId: string): OpenVenue | undefined {
    return [...this.venues].find(([id]) => id === exchangeId)?.[1];
  }

  private find(
    exchangeId: string,
    marketId: string,
  ): { readonly open: OpenVenue; readonly market: ListedMarket } | undefined {
    const open = this.venueOf(exchangeId);
    const market = open?.venue.reads.market(marketId);
    return open === undefined || market === undefined ? undefined : { open, market };
  }
}

function sharesOf(
  market: ListedMarket | undefined,
  label: string | undefined,
): CommandOf<'credit'>['shares'] {
  if (market === undefined) return undefined;
  const { market_id, outcomes } = market.terms;
  if (outcomes[0] === label) return { market_id, outcome: 0 };
  return outcomes[1] === label ? { market_id, outcome: 1 } : undefined;
}

/** The requested grid, or the venue's default. Undefined if the bands leave a gap or overlap. */
function gridOf(
  { tick_size: tick, bands }: z.infer<typeof marketBody>,
  venues: PriceGrid,
): PriceGrid | undefined {
  if (bands === undefined) return tick === undefined ? venues : evenGrid(tick, venues);
  const isWhole = bands.every(
    ({ start, end, step }, index) => start === (bands[index - 1]?.end ?? 0) && end > start && step > 0,
  );
  return isWhole && bands.at(-1)?.end === ONE_DOLLAR ? { ...venues, bands } : undefined;
}

function fault(status: number, error: string): VenueAnswer {
  return { status, body: { error } };
}

function bad(error: z.ZodError): VenueAnswer {
  return fault(400, z.prettifyError(error));
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
