import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Cell } from '#libs/execution/cell/cell.js';
import type { CellMeter } from '#libs/execution/cell/cell-ports.js';

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

type Gauges = Cell['gauges'];

const GAUGES: Readonly<Record<keyof Gauges, readonly [name: string, help: string]>> = {
  queueDepth: ['sotto_command_queue_depth', 'Commands waiting for the command loop'],
  appendingSeconds: ['sotto_journal_append_waiting_seconds', 'How long the current append has taken so far'],
  liveOrders: ['sotto_live_orders', 'Orders of this cell that are still live'],
  users: ['sotto_cell_users', 'Users that have state in this cell'],
  tasks: ['sotto_executor_tasks_waiting', 'Tasks that wait for an executor'],
  doubtful: ['sotto_orders_in_doubt', 'Orders whose state at the venue is unknown'],
  stalled: ['sotto_orders_stalled', 'Orders whose venue has not answered for too long'],
  differences: ['sotto_balance_differences', 'Assets of users whose balance here and at the venue differs'],
};

/** The metrics that operators watch for a cell. */
export class CellMetrics implements CellMeter {
  private readonly commands: Counter;
  private readonly seconds: Histogram;

  constructor(registry: Registry, cell: () => Cell | undefined) {
    const registers = [registry];
    this.commands = new Counter({
      name: 'sotto_cell_requests_total',
      help: 'Requests answered, by operation and code',
      labelNames: ['op', 'status', 'code'],
      registers,
    });
    this.seconds = new Histogram({
      name: 'sotto_journal_append_seconds',
      help: 'Time from handing a batch to the journal until it is durable',
      buckets: SECONDS,
      registers,
    });
    const head = (): number => cell()?.head.sequence ?? 0;
    gauge(registry, 'sotto_journal_head', 'Sequence of the last record that is durable', head);
    gauge(registry, 'sotto_journal_epoch', 'Epoch in which this cell writes', () => cell()?.head.epoch ?? 0);
    for (const name of Object.keys(GAUGES) as (keyof Gauges)[]) {
      const [metric, help] = GAUGES[name];
      gauge(registry, metric, help, () => cell()?.gauges[name] ?? 0);
    }
  }

  command(op: string, status: number, code: string): void {
    this.commands.inc({ op, status: String(status), code });
  }

  appended(_records: number, seconds: number): void {
    this.seconds.observe(seconds);
  }
}

function gauge(registry: Registry, name: string, help: string, value: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(value());
    },
  });
}
