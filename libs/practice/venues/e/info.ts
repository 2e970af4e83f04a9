import { z } from 'zod';
import type { OutcomeIndex } from '../../matching/order-book.js';
import type { VenueFill } from '../../venue/terms.js';
import type { ListedMarket, PracticeVenuePort } from '../../venue/venue-reads.js';
import type { Faults } from '../../faults.js';
import type { VenueAnswer } from '../venue-shell.js';
import { decimal, dollars } from './decimals.js';
import { bookOf, COLLATERAL, coinOfSide, midOf, outcomeRecord, sideOfCoin, tokenOfSide } from './markets.js';
import {
  fillRecord,
  frontendOrder,
  ledgerUpdate,
  openOrder,
  processingStatus,
  tradeRecord,
} from './records.js';

const USER = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .toLowerCase();
const TIME = z.number().int().nonnegative();
const COIN = z.string().max(80);
const MOST_FILLS = 2_000;
const MOST_TRADES = 10;
const SIDES: readonly OutcomeIndex[] = [0, 1];

const QUESTION = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['meta', 'spotMeta', 'perpDexs', 'outcomeMeta', 'allMids', 'exchangeStatus']) }),
  z.object({ type: z.enum(['l2Book', 'recentTrades']), coin: COIN }),
  z.object({ type: z.literal('settledOutcome'), outcome: TIME }),
  /** Both are ours. The real venue shows only the latest trades, and settled outcomes only by id. */
  z.object({
    type: z.enum(['tradesByTime', 'settledOutcomesByTime']),
    startTime: TIME.optional(),
    endTime: TIME.nullish(),
  }),
  z.object({
    type: z.enum(['openOrders', 'frontendOpenOrders', 'userFills', 'spotClearinghouseState', 'extraAgents']),
    user: USER,
  }),
  z.object({
    type: z.literal('orderStatus'),
    user: USER,
    oid: z.union([TIME, z.string().regex(/^0x[0-9a-fA-F]{32}$/)]),
  }),
  z.object({
    type: z.enum(['userFillsByTime', 'userNonFundingLedgerUpdates']),
    user: USER,
    startTime: TIME.optional(),
    endTime: TIME.nullish(),
    reversed: z.boolean().optional(),
  }),
]);

type Question = z.infer<typeof QUESTION>;
type OfUser = Extract<Question, { readonly user: string }>;

/** Public reads of the venue. Accounts are public there. */
export class EInfo {
  constructor(
    private readonly venue: PracticeVenuePort,
    private readonly faults: Faults,
  ) {}

  async handle(body: string): Promise<VenueAnswer> {
    const question = questionIn(body);
    if (question === undefined) {
      return { status: 422, body: 'Failed to deserialize the JSON body into the target type' };
    }
    const answer = 'user' in question ? this.ofUser(question) : this.ofMarket(question);
    await this.venue.durable();
    return { status: 200, body: answer };
  }

  private ofMarket(question: Exclude<Question, OfUser>): unknown {
    const { reads } = this.venue;
    switch (question.type) {
      case 'meta':
        return { universe: [], marginTables: [], collateralToken: COLLATERAL.token };
      case 'perpDexs':
        return [null];
      case 'spotMeta':
        return { universe: [], tokens: [collateralRecord()] };
      case 'outcomeMeta': {
        const open = [...reads.markets()].filter(({ status }) => status !== 'resolved');
        return { outcomes: open.map(outcomeRecord), questions: [] };
      }
      case 'settledOutcome': {
        const market = reads.market(String(question.outcome));
        return market === undefined ? null : settledRecord(market);
      }
      case 'settledOutcomesByTime': {
        const within = [...reads.markets()].filter(({ changed_at: at }) => isWithin(at, question));
        return within.map(settledRecord).filter((record) => record !== null);
      }
      case 'tradesByTime': {
        const within = reads.tradesOfAll().filter(({ at }) => isWithin(at, question));
        return within.slice(0, MOST_FILLS).map(tradeRecord);
      }
      case 'allMids':
        return this.mids();
      case 'exchangeStatus':
        return { time: this.venue.now(), specialStatuses: null };
      case 'l2Book': {
        const side = sideOfCoin(question.coin);
        if (side === undefined || reads.market(side.market_id) === undefined) return null;
        return bookOf(side, reads, this.venue.now());
      }
      case 'recentTrades': {
        const side = sideOfCoin(question.coin);
        if (side === undefined) return null;
        const own = reads.trades(side.market_id).filter(({ taker_outcome: of }) => of === side.outcome);
        return own.slice(-MOST_TRADES).reverse().map(tradeRecord);
      }
    }
  }

  private ofUser(question: OfUser): unknown {
    const { reads } = this.venue;
    const { user } = question;
    switch (question.type) {
      case 'openOrders':
        return this.open(user).map(openOrder);
      case 'frontendOpenOrders':
        return this.open(user).map(frontendOrder);
      case 'orderStatus':
        return this.orderStatus(user, question.oid);
      case 'userFills':
        return this.withDuplicate(reads.fillsOf(user).slice(-MOST_FILLS)).reverse().map(fillRecord);
      case 'userFillsByTime': {
        const within = reads.fillsOf(user).filter(({ at }) => isWithin(at, question));
        const some = this.withDuplicate(within.slice(0, MOST_FILLS)).map(fillRecord);
        return question.reversed === true ? some.reverse() : some;
      }
      case 'userNonFundingLedgerUpdates':
        return reads
          .movementsOf(user)
          .filter(({ at }) => isWithin(at, question))
          .map(ledgerUpdate);
      case 'spotClearinghouseState':
        return this.balances(user);
      case 'extraAgents':
        return Object.entries(reads.keysOf(user)).map(([address, name]) => ({
          ...{ address, name, validUntil: null },
        }));
    }
  }

  private open(user: string): ReturnType<PracticeVenuePort['reads']['ordersOf']> {
    return this.venue.reads.ordersOf(user).filter(({ status }) => status === 'resting');
  }

  private orderStatus(user: string, oid: number | string): unknown {
    const { reads } = this.venue;
    const order =
      typeof oid === 'number' ? reads.order(String(oid)) : reads.orderByClientId(user, oid.toLowerCase());
    if (order?.account !== user) return { status: 'unknownOid' };
    const status = processingStatus(order);
    return {
      status: 'order',
      order: { order: frontendOrder(order), status, statusTimestamp: order.updated_at },
    };
  }

  /** Repeats the last fill if the duplicate fault is armed. */
  private withDuplicate(fills: readonly VenueFill[]): VenueFill[] {
    const last = fills.at(-1);
    return last !== undefined && this.faults.takeDuplicate() ? [...fills, last] : [...fills];
  }

  private balances(user: string): unknown {
    const { reads } = this.venue;
    const cash = reads.cash(user);
    const money = {
      ...{ coin: COLLATERAL.coin, token: COLLATERAL.token, total: dollars(cash.total) },
      ...{ hold: dollars(cash.held), entryNtl: '0.0' },
    };
    const shares = reads.positionsOf(user).map(({ holding, ...side }) => ({
      ...{ coin: tokenOfSide(side), total: decimal(holding.total), hold: decimal(holding.held) },
      entryNtl: '0.0',
    }));
    return { balances: [money, ...shares] };
  }

  private mids(): Record<string, string> {
    const mids: Record<string, string> = {};
    for (const { terms, status } of this.venue.reads.markets()) {
      if (status === 'resolved') continue;
      for (const outcome of SIDES) {
        const side = { market_id: terms.market_id, outcome };
        const mid = midOf(side, this.venue.reads);
        if (mid !== undefined) mids[coinOfSide(side)] = mid;
      }
    }
    return mids;
  }
}

function settledRecord(market: ListedMarket): object | null {
  if (market.payouts === undefined) return null;
  return { spec: outcomeRecord(market), settleFraction: decimal(market.payouts[0]), details: '' };
}

export function questionIn(body: string): Question | undefined {
  try {
    const read = QUESTION.safeParse(JSON.parse(body));
    return read.success ? read.data : undefined;
  } catch {
    return undefined;
  }
}

function isWithin(
  at: number,
  {
    startTime = 0,
    endTime,
  }: { readonly startTime?: number | undefined; readonly endTime?: number | null | undefined },
): boolean {
  return at >= startTime && at <= (endTime ?? Number.MAX_SAFE_INTEGER);
}

function collateralRecord(): object {
  return {
    ...{ name: COLLATERAL.coin, szDecimals: 8, weiDecimals: 8, index: COLLATERAL.token },
    ...{ tokenId: COLLATERAL.tokenId, isCanonical: true, evmContract: null, fullName: null },
    deployerTradingFeeShare: decimal(0),
  };
}
