import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#libs/testing/eventually.js';
import { namesOf, type DemoTrader, type VenueMarketJson } from '../../e2e/execution/orders-floor.js';
import type { Random } from '../../simulator/kernel/random.js';
import { heard, type Submitted, type OrderTranscript } from './transcript.js';

export interface Pitch {
  readonly exchange_id: 'venue_b' | 'venue_e';
  readonly markets: readonly VenueMarketJson[];
}

/** Between two calls of one trader: many slow traders, as in production. */
const PAUSE_MS = { least: 20, most: 160 };
const SETTLED_WITHIN_MS = 60_000;
const LEAST_DOLLARS = 5;
const CENT = 100;

/** One trader at one venue, with one action after another, chosen by the seed. */
export class TraderAtWork {
  private isStopped = false;
  private readonly own: Submitted[] = [];
  private done: Promise<void> | undefined;

  constructor(
    private readonly trader: DemoTrader,
    private readonly pitch: Pitch,
    private readonly random: Random,
    private readonly transcript: OrderTranscript,
  ) {}

  start(): void {
    this.done = this.work();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.done;
  }

  /** Repeats unanswered submits under their own keys until it is known whether there is an order. */
  async settle(): Promise<void> {
    for (const submitted of this.own) {
      if (submitted.order_id !== undefined || submitted.refusal !== undefined) continue;
      await eventually(async () => {
        const answer = await heard(this.trader.submit(submitted.body));
        if (!this.transcript.answered(submitted, answer))
          throw new Error(`${submitted.body.client_order_id}: ${answer?.text ?? 'no answer'}`);
      }, SETTLED_WITHIN_MS).catch((error: unknown) => {
        this.transcript.contradictions.push(`the result of ${String(error)} is unknown`);
      });
    }
  }

  private async work(): Promise<void> {
    while (!this.isStopped) {
      await this.next();
      await sleep(this.random.between(PAUSE_MS.least, PAUSE_MS.most));
    }
  }

  private next(): Promise<void> {
    const chance = this.random.next();
    if (chance < 0.55) return this.submit();
    if (chance < 0.75) return this.cancel();
    if (chance < 0.9) return this.amend();
    if (chance < 0.97) return this.repeat();
    return this.cancelAll();
  }

  private async submit(): Promise<void> {
    const submitted = this.transcript.open(this.trader, this.order());
    this.own.push(submitted);
    this.transcript.answered(submitted, await heard(this.trader.submit(submitted.body)));
  }

  private order(): Submitted['body'] {
    const { random, pitch } = this;
    const { exchange_id } = pitch;
    const side = random.chance(0.65) ? 'buy' : 'sell';
    const price = this.price();
    const least = Math.ceil(LEAST_DOLLARS / price) + 1;
    const kind = random.chance(0.1) ? 'market' : 'limit';
    const time_in_force = random.pick(
      kind === 'market' ? ['IOC', 'FOK'] : ['GTC', 'GTC', 'GTC', 'IOC', 'FOK'],
    );
    return {
      ...namesOf(exchange_id, random.pick(pitch.markets), random.pick([0, 1] as const)),
      ...{ exchange_id, client_order_id: random.uuid(), side, kind, price, time_in_force },
      quantity: side === 'buy' ? random.between(least, least + 30) : random.between(1, 15),
      max_retries: random.pick([0, 0, 1, 3]),
      ...(kind === 'limit' && time_in_force === 'GTC' && random.chance(0.15) ? { post_only: true } : {}),
    };
  }

  private price(): number {
    return this.random.between(45, 55) / CENT;
  }

  private async cancel(): Promise<void> {
    const id = this.one();
    if (id !== undefined)
      this.transcript.count(await heard(this.trader.send('POST', `/orders/${id}/cancel`, {})));
  }

  private async amend(): Promise<void> {
    const order_id = this.one();
    if (order_id === undefined || this.pitch.exchange_id !== 'venue_b') return;
    const answer = await heard(
      this.trader.send('POST', `/orders/${order_id}/amend`, { price: this.price() }),
    );
    this.transcript.count(answer);
    if (answer?.status === 200 && answer.body.success === true)
      this.transcript.amends.push({ order_id, price: String(answer.body.price) });
  }

  /** Uses the same key again, as a client must after a failure. */
  private async repeat(): Promise<void> {
    if (this.own.length === 0) return;
    const submitted = this.random.pick(this.own.slice(-10));
    if (submitted.refusal !== undefined) return;
    this.transcript.answered(submitted, await heard(this.trader.submit(submitted.body)));
  }

  private async cancelAll(): Promise<void> {
    const { exchange_id } = this.pitch;
    this.transcript.count(await heard(this.trader.send('POST', '/orders/cancel-all', { exchange_id })));
  }

  /** One of the latest orders, which may have ended. */
  private one(): string | undefined {
    const known = this.own.flatMap(({ order_id }) => order_id ?? []).slice(-8);
    return known.length === 0 ? undefined : this.random.pick(known);
  }
}
