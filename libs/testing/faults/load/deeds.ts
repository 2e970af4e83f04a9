import type { ClusterContract } from '../../cluster-file.js';
import type { Random } from '../../simulator/kernel/random.js';
import type { Promised } from '../../simulator/oracle/promises.js';
import type { Errand } from './caller.js';

/** An auction as its parties have heard of it. */
export interface KnownAuction {
  readonly id: string;
  readonly originator: string;
  readonly makers: readonly string[];
  readonly tick: number;
  readonly step: number;
  readonly quantity: number;
}

export interface KnownQuote {
  readonly id: string;
  readonly auctionId: string;
  readonly revision: number;
}

type Fields = Readonly<Record<string, unknown>>;

const LEVEL = 50_000;
const TERM_MS = { least: 1_500, most: 9_000 };

export function createErrand(
  account: string,
  contract: ClusterContract,
  makers: readonly string[],
  random: Random,
  differing: Fields = {},
): Errand {
  const { venue, contract_id, outcome, price_tick_atoms: tick, quantity_step_atoms: step } = contract;
  const steps = random.between(1, 12) * Math.max(1, Math.floor(1_000_000 / step));
  const isSplit = random.chance(0.5);
  const body = {
    side: random.pick(['BUY', 'SELL']),
    quantity_atoms: step * steps,
    routes: [{ venue, contract_id, outcome }],
    audience: { market_maker_ids: random.shuffled(makers).slice(0, random.between(1, makers.length)) },
    duration_ms: random.between(TERM_MS.least, TERM_MS.most),
    execution_deadline_ms: random.pick([20_000, 60_000]),
    ...(isSplit ? { allocation: 'SPLIT', max_winners: random.between(2, 4) } : {}),
    ...(random.chance(0.5) ? { limit_price_atoms: priceOn(tick, random) } : {}),
    ...(random.chance(0.3) ? { min_fill_quantity_atoms: step * random.between(1, steps) } : {}),
    ...(random.chance(0.3) ? { quote_revision_policy: random.pick(['FREE', 'IMPROVE_ONLY', 'FINAL']) } : {}),
    ...(random.chance(0.3)
      ? { result_disclosure: random.pick(['WINNING_PRICE', 'WINNING_PRICE_AND_RANK']) }
      : {}),
    ...(random.chance(0.7)
      ? {
          identity_policy: {
            originator: random.pick(['ANONYMOUS', 'DISCLOSED', 'WINNER_ONLY']),
            market_makers: random.pick(['ANONYMOUS', 'DISCLOSED_AFTER_AWARD']),
          },
        }
      : {}),
    ...differing,
  };
  return { command: commandOf('CREATE', account, '', random, body), path: '/v1/auctions', body };
}

export function submitErrand(account: string, auction: KnownAuction, random: Random): Errand {
  const { tick, step, quantity } = auction;
  const size = random.between(1, quantity / step);
  const body = {
    price_atoms: priceOn(tick, random) + (random.chance(0.03) ? 1 : 0),
    quantity_atoms: step * size,
    ...(random.chance(0.3) ? { min_quantity_atoms: step * random.between(1, size) } : {}),
  };
  return onAuction('SUBMIT', account, auction.id, 'quotes', body, random);
}

export function reviseErrand(
  account: string,
  auction: KnownAuction,
  quote: KnownQuote,
  random: Random,
): Errand {
  const { tick, step, quantity } = auction;
  const price = { price_atoms: priceOn(tick, random) };
  const size = { quantity_atoms: step * random.between(1, quantity / step) };
  const terms = random.pick<Fields>([price, size, { ...price, ...size }]);
  const body = { expected_revision: quote.revision, ...terms };
  return onAuction('REVISE', account, auction.id, `quotes/${quote.id}/revise`, body, random);
}

export function withdrawErrand(account: string, { id, auctionId }: KnownQuote, random: Random): Errand {
  return onAuction('WITHDRAW', account, auctionId, `quotes/${id}/withdraw`, {}, random);
}

export function cancelErrand(account: string, auctionId: string, random: Random): Errand {
  const body = random.pick<Fields>([{}, { reason: 'no longer needed' }]);
  return onAuction('CANCEL', account, auctionId, 'cancel', body, random);
}

export function withdrawAllErrand(account: string, random: Random): Errand {
  return {
    command: commandOf('WITHDRAW_ALL', account, '', random, {}),
    path: '/v1/quotes/withdraw-all',
    body: {},
  };
}

function onAuction(
  operation: Promised['operation'],
  account: string,
  auctionId: string,
  action: string,
  body: Fields,
  random: Random,
): Errand {
  const command = commandOf(operation, account, auctionId, random, [action, body]);
  return { command, path: `/v1/auctions/${auctionId}/${action}`, body };
}

function commandOf(
  operation: Promised['operation'],
  account: string,
  auctionId: string,
  random: Random,
  content: object,
): Promised {
  return { operation, account, auctionId, key: random.uuid(), content: JSON.stringify(content) };
}

/** Often one of a few that are on every grid: quotes of the same price are what the rule of priority is for. */
function priceOn(tick: number, random: Random): number {
  if (random.chance(0.6)) return LEVEL * random.between(8, 12);
  return tick * random.between(Math.ceil(300_000 / tick), Math.floor(700_000 / tick));
}
