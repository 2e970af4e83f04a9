import type { MarketState, VenueMarket } from '../../rules/markets.js';
import { leastOf, mostOf, ONE, type Micros } from '../../rules/micros.js';
import type { VenueMarkets } from '../port.js';
import { decimal, instantOf, sideOf, tokenIdOf } from './amounts.js';
import type { VenueERequests } from './requests.js';
import { book, exchangeStatus, outcomeMeta, settledOutcome, type VenueEOutcome } from './shapes.js';

/** Used if the venue does not say when a market closes. */
const NEVER = '9999-12-31T00:00:00.000000000Z';
const STATES: Readonly<Record<string, MarketState>> = { open: 'open', halted: 'halted', closed: 'closed' };

/** Each outcome of the venue is a market here, and its two sides are the outcomes of that market. */
export class VenueEMarkets implements VenueMarkets {
  private asking: Promise<readonly VenueEOutcome[]> | undefined;
  /** Labels of sides never change. */
  private readonly labels = new Map<string, readonly string[]>();

  constructor(private readonly requests: VenueERequests) {}

  async market(id: string): Promise<VenueMarket | undefined> {
    const market_id = /^\d{1,12}$/.test(id) ? String(Number(id)) : sideOf(id)?.market_id;
    if (market_id === undefined) return undefined;
    const open = (await this.outcomes()).find(({ outcome }) => String(outcome) === market_id);
    if (open !== undefined) return this.recordOf(open);
    const question = { type: 'settledOutcome', outcome: Number(market_id) };
    const settled = await this.requests.read(question, settledOutcome);
    return settled === null ? undefined : this.recordOf(settled.spec, 'resolved');
  }

  async list(after: string | undefined, limit: number): Promise<readonly VenueMarket[]> {
    const sorted = [...(await this.outcomes())].sort((one, other) => one.outcome - other.outcome);
    return sorted
      .filter(({ outcome }) => after === undefined || outcome > Number(after))
      .slice(0, limit)
      .map((outcome) => this.recordOf(outcome));
  }

  /**
   * Each side has a book of its own and also trades against the other side's: a bid for one side is an offer of the
   * other at one dollar less.
   */
  async best(
    market_id: string,
    outcome_index: number,
  ): Promise<{ readonly bid?: Micros; readonly ask?: Micros }> {
    const [own, other] = await Promise.all(
      [outcome_index, 1 - outcome_index].map((index) => this.bestOf(market_id, index)),
    );
    const bids = [own?.bid, restOf(other?.ask)].filter((price) => price !== undefined);
    const asks = [own?.ask, restOf(other?.bid)].filter((price) => price !== undefined);
    return {
      ...(bids.length === 0 ? {} : { bid: bids.reduce((one, another) => mostOf(one, another)) }),
      ...(asks.length === 0 ? {} : { ask: asks.reduce((one, another) => leastOf(one, another)) }),
    };
  }

  private async bestOf(market_id: string, outcome_index: number): Promise<{ bid?: Micros; ask?: Micros }> {
    const coin = tokenIdOf({ market_id, outcome_index });
    const read = await this.requests.read({ type: 'l2Book', coin }, book);
    const [bid, ask] = read === null ? [] : read.levels.map(([first]) => first?.px);
    return { ...(bid === undefined ? {} : { bid }), ...(ask === undefined ? {} : { ask }) };
  }

  async status(): Promise<{ readonly exchange_active: boolean; readonly trading_active: boolean }> {
    const { specialStatuses: special } = await this.requests.read({ type: 'exchangeStatus' }, exchangeStatus);
    return { exchange_active: true, trading_active: special === null || special === undefined };
  }

  /** The label of a side, as the market record has it. */
  async label(market_id: string, outcome_index: number): Promise<string> {
    if (!this.labels.has(market_id)) await this.market(market_id);
    return this.labels.get(market_id)?.[outcome_index] ?? String(outcome_index);
  }

  /** Concurrent calls share one request. */
  private outcomes(): Promise<readonly VenueEOutcome[]> {
    this.asking ??= this.requests
      .read({ type: 'outcomeMeta' }, outcomeMeta)
      .then(({ outcomes }) => outcomes)
      .finally(() => {
        this.asking = undefined;
      });
    return this.asking;
  }

  private recordOf(
    { outcome, name, description, sideSpecs }: VenueEOutcome,
    state?: MarketState,
  ): VenueMarket {
    const market_id = String(outcome);
    const labels = sideSpecs.slice(0, 2).map((side) => side.name);
    this.labels.set(market_id, labels);
    const facts = factsIn(description);
    return {
      ...{ exchange_id: 'venue_e', market_id, title: name },
      status: state ?? STATES[facts.get('status') ?? 'open'] ?? 'halted',
      neg_risk: facts.get('neg_risk') === 'true',
      outcomes: labels.map((label, index) => ({
        ...{ index, outcome: label, token_id: tokenIdOf({ market_id, outcome_index: index }) },
      })),
      ...gridIn(facts.get('ticks')),
      min_size: microsIn(facts.get('size')) ?? ONE,
      closes_at: closingIn(facts.get('expiry')),
      ...contractIn(facts.get('contract')),
    };
  }
}

function restOf(price: Micros | undefined): Micros | undefined {
  return price === undefined ? undefined : ONE - price;
}

/**
 * The venue describes outcomes as `name:value` parts separated by bars. All names except `expiry` are the practice
 * venue's own.
 */
function factsIn(description: string): ReadonlyMap<string, string> {
  return new Map(
    description.split('|').map((part) => {
      const [name = '', ...value] = part.split(':');
      return [name, value.join(':')] as const;
    }),
  );
}

function gridIn(ticks: string | undefined): Pick<VenueMarket, 'tick_size' | 'bands'> {
  const bands = (ticks ?? '').split(',').flatMap((band) => {
    const [start, end, step] = band.split('/').map(microsIn);
    return start === undefined || end === undefined || step === undefined ? [] : [{ start, end, step }];
  });
  const [first] = bands;
  if (first === undefined) return {};
  return bands.length === 1 ? { tick_size: first.step } : { bands };
}

function microsIn(text: string | undefined): Micros | undefined {
  const read = decimal.safeParse(text);
  return read.success ? read.data : undefined;
}

/** Parses milliseconds or a time such as `20260608-0600`. */
function closingIn(expiry: string | undefined): string {
  if (expiry !== undefined && /^\d{10,15}$/.test(expiry)) return instantOf(Number(expiry));
  const [, year, month, day, hour, minute] = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)$/.exec(expiry ?? '') ?? [];
  if (year === undefined) return NEVER;
  return `${year}-${month}-${day}T${hour}:${minute}:00.000000000Z`;
}

function contractIn(contract: string | undefined): Pick<VenueMarket, 'contract_id'> {
  return contract === undefined ? {} : { contract_id: contract };
}
