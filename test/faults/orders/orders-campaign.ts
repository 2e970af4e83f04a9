import { eventually } from '#libs/testing/eventually.js';
import { startCluster } from '#libs/testing/cluster/cluster.js';
import { OrdersFloor, type DemoTrader } from '../../e2e/execution/orders-floor.js';
import { Random } from '../../simulator/kernel/random.js';
import { examine, type OrderExamination } from './examination.js';
import { LedgerSums } from './ledger-sums.js';
import { STRIKES } from './strikes.js';
import { heard, OrderTranscript } from './transcript.js';
import { ordersIn } from './traders.js';
import { VenueBooks } from './venue-books.js';
import { TraderAtWork, type Pitch } from './workload.js';

export interface CampaignPlan {
  readonly seed: number;
  /** Names of STRIKES, one after another; names joined by a plus happen together. */
  readonly faults: readonly string[];
  /** Answers that the traders get between two faults. */
  readonly answersBetween: number;
}

export interface OrdersOutcome extends OrderExamination {
  readonly answers: number;
  readonly unanswered: number;
  /** The last log lines of the processes, if something is wrong. */
  readonly logs: string;
}

const TRADERS = ['trader-1', 'trader-2', 'trader-3', 'trader-4'];
const VENUES = ['venue_b', 'venue_e'] as const;
const MARKETS = 2;
const SETTINGS = { SERVICES: 'execution', PRACTICE_STILL: '1', LIMITS_FACTOR: '50' };
const WELL_WITHIN_MS = 60_000;
const ANSWERS_WITHIN_MS = 60_000;
/** A venue's query that waits for four others takes up to 15 s. */
const OVER_WITHIN_MS = 90_000;
/** Accounts are compared every 15 s, and a difference is corrected after two. */
const TRUE_WITHIN_MS = 60_000;

/** Traders trade during faults; then all orders must end, and all must be true. */
export async function runOrdersCampaign(plan: CampaignPlan): Promise<OrdersOutcome> {
  const cluster = await startCluster({ env: SETTINGS });
  const ledger = new LedgerSums(cluster.file.database_url);
  try {
    return await new Campaign(new OrdersFloor(cluster), ledger, plan).run();
  } finally {
    await ledger.close();
    await cluster.stop();
  }
}

class Campaign {
  private readonly transcript = new OrderTranscript();
  private readonly traders: readonly DemoTrader[];
  private readonly random: Random;

  constructor(
    private readonly floor: OrdersFloor,
    private readonly ledger: LedgerSums,
    private readonly plan: CampaignPlan,
  ) {
    this.traders = TRADERS.map((name) => floor.trader(name));
    this.random = new Random(`orders/${plan.seed}`);
  }

  async run(): Promise<OrdersOutcome> {
    const pitches = await Promise.all(VENUES.map((exchange_id) => this.pitch(exchange_id)));
    const working = pitches.flatMap((pitch) =>
      this.traders.map((trader, index) => {
        const own = this.random.fork(`${pitch.exchange_id}/${index}`);
        return new TraderAtWork(trader, pitch, own, this.transcript);
      }),
    );
    for (const one of working) one.start();
    await this.moreAnswers();
    for (const name of this.plan.faults) {
      await this.strike(name);
      await this.moreAnswers();
    }
    await Promise.all(working.map((one) => one.stop()));
    await this.floor.admin('DELETE', '/faults');
    await this.allWell();
    await Promise.all(working.map((one) => one.settle()));
    const stuck = await this.allOver();
    const found = await this.untilTrue(pitches);
    const wrong = [...stuck, ...found.wrong];
    const { answers, unanswered } = this.transcript;
    const logs = wrong.length === 0 ? '' : this.floor.cluster.logTails();
    return { ...found, wrong, answers, unanswered, logs };
  }

  private async strike(names: string): Promise<void> {
    const strikes = names.split('+').map((name) => {
      const strike = STRIKES[name];
      if (strike === undefined) throw new Error(`there is no fault ${name}`);
      return strike;
    });
    await Promise.all(strikes.map((strike) => strike(this.floor, this.random)));
  }

  private async pitch(exchange_id: Pitch['exchange_id']): Promise<Pitch> {
    const markets = [];
    for (let made = 0; made < MARKETS; made += 1)
      markets.push(await this.floor.market(exchange_id, { tick_size: '0.01' }));
    return { exchange_id, markets };
  }

  /** So that orders are always in progress when the next fault comes. */
  private async moreAnswers(): Promise<void> {
    const wanted = this.transcript.answers + this.plan.answersBetween;
    await eventually(() => {
      const { answers } = this.transcript;
      if (answers < wanted) throw new Error(`${answers} answers, not ${wanted}`);
    }, ANSWERS_WITHIN_MS);
  }

  private allWell(): Promise<void> {
    return eventually(async () => {
      for (const { name, health_url: url } of this.floor.cluster.file.processes) {
        const { status } = await fetch(url.replace('/healthz', '/readyz'));
        if (status !== 200) throw new Error(`${name} is ${status}`);
      }
    }, WELL_WITHIN_MS);
  }

  /** Cancels live orders until none is left; returns the names of those that remain. */
  private async allOver(): Promise<string[]> {
    let live: string[] = [];
    const clear = async (): Promise<void> => {
      live = [];
      for (const trader of this.traders)
        for (const exchange_id of VENUES)
          for (const { order_id: id, status } of await ordersIn(trader, exchange_id, '&status=active')) {
            live.push(`${exchange_id} ${id} is still ${status}`);
            if (status !== 'cancel_requested') await heard(trader.send('POST', `/orders/${id}/cancel`, {}));
          }
      if (live.length > 0) throw new Error('not over');
    };
    await eventually(clear, OVER_WITHIN_MS).catch(() => undefined);
    return live;
  }

  /** Booking, projections and comparisons of accounts follow a little later. */
  private async untilTrue(pitches: readonly Pitch[]): Promise<OrderExamination> {
    let found: OrderExamination = { wrong: ['nothing was examined'], orders: 0, fills: 0, ends: new Map() };
    const look = async (): Promise<void> => {
      found = await examine({
        ...{ traders: this.traders, pitches, transcript: this.transcript, ledger: this.ledger },
        booksOf: (exchange_id) => VenueBooks.read(this.floor.cluster.dataDir, exchange_id),
      });
      if (found.wrong.length > 0) throw new Error('not true yet');
    };
    await eventually(look, TRUE_WITHIN_MS).catch((error: unknown) => {
      if (found.wrong.length === 0 || found.orders === 0) found = { ...found, wrong: [String(error)] };
    });
    return found;
  }
}
