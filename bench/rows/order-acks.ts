import { alternating } from '../alternating.js';
import { SingleRowInserts } from '../baselines/single-row-inserts.js';
import type { Ground } from '../ground/ground.js';
import { acceptedIn, type OrderFloor } from '../ground/order-floor.js';
import { closedLoop } from '../load/closed-loop.js';
import { ProcessorTime } from '../load/processor-time.js';
import { asFastAs, forComparison, type RowOutcome, type Row, type Settings } from '../row.js';

const CLIENTS = 16;
const SOCKETS = 64;
const MARKETS = 8;
const FEW = { sockets: 8, markets: 2 };

/** Submits over `/ws` through the whole cluster, while the executor sends accepted orders to the venue. */
export const orderAcks: Row = {
  name: 'order-acks',
  title: 'Orders acknowledged over /ws, each durable, 4 traders in both cells, 64 in flight',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const floor = await ground.orders();
    const submit = await submitting(floor, settings);
    const inserts = await SingleRowInserts.open(floor.cluster.file.database_url, CLIENTS);
    const processor = new ProcessorTime(floor.cluster);
    const micros: Record<string, number>[] = [];
    const sockets = settings.quick ? FEW.sockets : SOCKETS;
    const measured = async (): Promise<number> => {
      await closedLoop(sockets, settings.seconds / 4, submit);
      processor.begin();
      const perSecond = await closedLoop(sockets, settings.seconds, submit);
      micros.push(processor.microsPer(perSecond * settings.seconds));
      await floor.clear();
      return perSecond;
    };
    const { medians, runs } = await alternating(
      {
        inserts: () => closedLoop(CLIENTS, settings.seconds, inserts.insert),
        orders: measured,
        unsent: () => withoutExecutor(floor, measured),
      },
      settings,
    );
    await inserts.close();
    const baseline = { name: 'raw single-row INSERT commits of 16 clients', measured: medians.inserts };
    return {
      checks: [
        asFastAs('orders acknowledged', '/s', medians.orders, baseline, { minimum: 0.5, goal: 0.5 }),
        forComparison('the same while nothing is sent to the venue', '/s', medians.unsent, baseline),
      ],
      details: { runs, processor_us_per_order: micros },
    };
  },
};

/** Submits one more order on the caller's socket, and waits for the acknowledgement. */
export async function submitting(
  floor: OrderFloor,
  { quick }: Settings,
): Promise<(caller: number) => Promise<void>> {
  const sockets = await floor.open(quick ? FEW.sockets : SOCKETS);
  const markets = await floor.markets(quick ? FEW.markets : MARKETS);
  let turn = 0;
  return async (caller) => {
    turn += 1;
    const market = markets[turn % markets.length] ?? '';
    const reply = await sockets[caller % sockets.length]?.ask('order.submit', {
      order: floor.resting(market),
    });
    if (reply !== undefined) acceptedIn(reply);
  };
}

/** Stops the executor for this time, so that accepted orders wait. */
async function withoutExecutor<T>({ cluster }: OrderFloor, work: () => Promise<T>): Promise<T> {
  cluster.kill('executor', 'SIGSTOP');
  try {
    return await work();
  } finally {
    cluster.kill('executor', 'SIGCONT');
  }
}
