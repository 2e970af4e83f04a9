import { randomUUID } from 'node:crypto';
import { VenueOwnClient } from '../baselines/venue-own-client.js';
import type { Ground } from '../ground/ground.js';
import { acceptedIn, type OrderFloor } from '../ground/order-floor.js';
import { latenciesOf, type Latencies } from '../load/open-loop.js';
import type { OrderSocket } from '../load/order-socket.js';
import { noSlowerThan, type RowOutcome, type Row, type Settings } from '../row.js';
import { median } from '../statistics.js';

/** Orders of five dollars each. */
const ORDERS = 100;
const FEW = 5;
const OFFERED = '100000.00';
const MAKER_DOLLARS = '200000';
const TAKER_DOLLARS = '100000';

/** From the submit to the pushed fill, one order at a time, against a resting offer. */
export const orderFill: Row = {
  name: 'order-fill',
  title: "Submit to pushed fill on venue b, compared with the venue's own client on its own socket",
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const floor = await ground.orders();
    const [market = ''] = await floor.markets(1);
    const maker = await VenueOwnClient.open(floor.venuePort, await floor.account(MAKER_DOLLARS));
    await maker.offer(market, OFFERED, '0.5000');
    const own = await VenueOwnClient.open(floor.venuePort, await floor.account(TAKER_DOLLARS));
    const ours = await Takers.open(floor, market);
    const orders = settings.quick ? FEW : ORDERS;
    const filled: Latencies[] = [];
    const theirs: Latencies[] = [];
    // Warms up: the first orders run cold code.
    await timed(orders, () => own.take(market, '10.00', '0.5000'));
    await timed(orders, () => ours.take());
    for (let run = 1; run <= settings.runs; run += 1) {
      theirs.push(await timed(orders, () => own.take(market, '10.00', '0.5000')));
      filled.push(await timed(orders, () => ours.take()));
      settings.say(
        `run ${run} of ${settings.runs}: ${p50(filled)} ms; the venue's client: ${p50(theirs)} ms`,
      );
    }
    maker.close();
    own.close();
    const of = (all: readonly Latencies[], which: 'p50' | 'p99'): number =>
      median(all.map((one) => one[which]));
    const checks = (['p50', 'p99'] as const).map((which) =>
      noSlowerThan(
        `${which} to the pushed fill`,
        'ms',
        of(filled, which),
        { name: `${which} of kalshi-typescript and the venue's socket`, measured: of(theirs, which) },
        { minimum: 2, goal: 2 },
      ),
    );
    return { checks, details: { ours: filled, theirs } };
  },
};

/** One trader of each cell in turn, each with a subscribed socket. */
class Takers {
  private turn = 0;
  private readonly seen = new Set<string>();
  private waiting: { readonly id: string; readonly resolve: () => void } | undefined;

  private constructor(
    private readonly sockets: readonly OrderSocket[],
    private readonly market: string,
  ) {
    for (const socket of sockets) {
      socket.onMessage = ({ type, order_id: id }) => {
        if (type !== 'fill' || typeof id !== 'string') return;
        if (this.waiting?.id === id) this.waiting.resolve();
        else this.seen.add(id);
      };
    }
  }

  static async open(floor: OrderFloor, market: string): Promise<Takers> {
    const sockets = await floor.open(floor.owners.length);
    for (const socket of sockets) await socket.subscribe();
    return new Takers(sockets, market);
  }

  async take(): Promise<void> {
    this.turn += 1;
    const socket = this.sockets[this.turn % this.sockets.length];
    if (socket === undefined) throw new Error('there is no trader');
    const order = {
      ...{ exchange_id: 'venue_b', market_id: this.market, outcome: 'Yes', side: 'buy', kind: 'limit' },
      ...{ price: 0.5, quantity: 10, time_in_force: 'IOC', client_order_id: randomUUID() },
    };
    const id = acceptedIn(await socket.ask('order.submit', { order }));
    if (this.seen.delete(id)) return;
    await new Promise<void>((resolve) => (this.waiting = { id, resolve }));
    this.waiting = undefined;
  }
}

async function timed(orders: number, take: () => Promise<void>): Promise<Latencies> {
  const taken: number[] = [];
  for (let number = 0; number < orders; number += 1) {
    const begun = performance.now();
    await take();
    taken.push(performance.now() - begun);
  }
  return latenciesOf(taken);
}

function p50(runs: readonly Latencies[]): string {
  return runs.at(-1)?.p50.toFixed(2) ?? '';
}
