import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { EXIT } from '#libs/platform/process/start-fault.js';
import {
  CommandFault,
  EXIT_REFUSED,
  millisOf,
  optionsOf,
  reasonOf,
  requiredShard,
  shardOf,
} from './arguments.js';
import type { OpsCommand, OpsPorts } from './report.js';
import { type ParsedCall, UsageFault } from '#libs/platform/terminal/commands.js';
import { ofSomebodyElse } from './gateway-client.js';
import { type Column, table } from './table.js';
import type { ShardRowJson } from '#libs/client/operator-wire.js';

const SHARDS = '/v1/ops/shards';
const TOO_MANY_REQUESTS = 429;
const DEFAULT_EVERY_MILLIS = 2_000;
const POLL_EVERY_MILLIS = 500;
/** Enough for a gateway that answers at all to report the final state. */
const MIN_POLL_MILLIS = 500;

const COLUMNS: readonly Column<ShardRowJson>[] = [
  { head: 'SHARD', cell: ({ shard }) => shard },
  { head: 'STATE', cell: ({ state }) => state },
  { head: 'EPOCH', cell: ({ epoch }) => epoch },
  { head: 'HEAD', cell: ({ journal_head: head }) => head },
  { head: 'LAG', cell: ({ projection_lag_events: lag }) => lag },
  { head: 'AUCTIONS', cell: ({ active_auctions: live }) => live },
  { head: 'CLOCK MS', cell: ({ clock_offset_ms: offset }) => offset },
  {
    head: 'RECOVERED',
    cell: ({ recovery }) => recovery && `${recovery.events} events in ${recovery.ms} ms`,
  },
];

const ABOUT_ROWS = [
  'STATE is ACTIVE; DRAINING (refuses creates only); RECOVERING (its owner runs but does not serve yet); or',
  'UNREACHABLE (its owner does not answer; EPOCH, HEAD and LAG then come from the database). HEAD is the last record of the',
  'journal, LAG the records that the projections lack, AUCTIONS the live auctions, CLOCK MS how far the database clock is ahead.',
];

export const shards: OpsCommand = {
  name: 'shards',
  operands: [{ name: 'shard', optional: true }],
  options: optionsOf('watch', 'every'),
  summary: 'show the state of all shards or of one',
  explanation: ABOUT_ROWS,
  examples: ['shards', 'shards 1', 'shards --watch --every 5', 'shards --output json'],
  run: showShards,
};

export const shardDrain: OpsCommand = {
  name: 'shard drain',
  operands: [{ name: 'shard' }],
  options: optionsOf('reason', 'wait', 'timeout'),
  summary: 'drain a shard: refuse creates',
  explanation: [
    'Creates are refused with 503 auction_owner_unavailable. Quotes, withdrawals, cancels, closes and settlement go on, and the process',
    'keeps running. `shard resume` undoes it. With --wait the command returns when the shard has no live auctions. It ends',
    'with 1 if an operator resumes the shard first, or after --timeout.',
  ],
  examples: ['shard drain 1 --reason "new disk"', 'shard drain 1 --wait --timeout 3600'],
  run: drain,
};

export const shardResume: OpsCommand = {
  name: 'shard resume',
  operands: [{ name: 'shard' }],
  options: optionsOf('reason'),
  summary: 'end a drain: accept creates again',
  explanation: ['Changes nothing if the shard is not draining. Does not delay a process that is stopping.'],
  examples: ['shard resume 1'],
  async run(call, { gateway, report }) {
    const row = await gateway.call<ShardRowJson>(
      'POST',
      pathOf(requiredShard(call), 'resume'),
      reasonOf(call),
    );
    report.result(row, () => [oneLine(row)]);
    return 0;
  },
};

async function showShards(call: ParsedCall, ports: OpsPorts): Promise<number> {
  const { clock, gateway, report, stop } = ports;
  const shard = shardOf(call);
  const every = millisOf(call, 'every');
  if (!call.options.isSet('watch')) {
    if (every !== undefined) throw new UsageFault('--every goes with --watch');
    const rows = await rowsOf(ports, shard);
    report.result({ shards: rows }, () => table(COLUMNS, rows));
    return 0;
  }
  // The first request shows what is wrong with the call. Later ones may fail, and the watch goes on.
  let latest = await rowsOf({ gateway }, shard);
  while (!stop.aborted) {
    const rows = latest;
    report.picture({ shards: rows }, () => table(COLUMNS, rows));
    await untilNext(clock, stop, every ?? DEFAULT_EVERY_MILLIS);
    latest = await rowsOf({ gateway }, shard).catch((error: unknown) =>
      tolerateTemporary(error, ports, latest),
    );
  }
  return 0;
}

/** Reports a temporary fault and keeps the last rows. */
function tolerateTemporary<T>(error: unknown, { report, stop }: OpsPorts, last: T): T {
  if (!(error instanceof CommandFault)) throw error;
  if (stop.aborted) return last;
  if (error.exitCode !== EXIT.unavailable && error.told.status !== TOO_MANY_REQUESTS) throw error;
  report.fault(error);
  return last;
}

async function rowsOf(
  { gateway }: Pick<OpsPorts, 'gateway'>,
  shard?: number,
  within?: number,
): Promise<readonly ShardRowJson[]> {
  const { shards: rows } = await gateway.get<{ shards?: readonly ShardRowJson[] }>(SHARDS, within);
  if (rows === undefined) throw ofSomebodyElse(SHARDS);
  const wanted = rows.filter((row) => shard === undefined || row.shard === shard);
  if (wanted.length === 0) throw new CommandFault(`there is no shard ${String(shard)}`, EXIT_REFUSED);
  return wanted;
}

async function drain(call: ParsedCall, ports: OpsPorts): Promise<number> {
  const shard = requiredShard(call);
  const timeout = millisOf(call, 'timeout');
  if (timeout !== undefined && !call.options.isSet('wait'))
    throw new UsageFault('--timeout goes with --wait');
  const { gateway, report } = ports;
  let row = await gateway.call<ShardRowJson>('POST', pathOf(shard, 'drain'), reasonOf(call));
  if (call.options.isSet('wait')) {
    report.progress(oneLine(row));
    row = await untilEmpty(row, timeout, ports);
  }
  report.result(row, () => [oneLine(row)]);
  return 0;
}

async function untilEmpty(
  drained: ShardRowJson,
  timeout: number | undefined,
  ports: OpsPorts,
): Promise<ShardRowJson> {
  const { clock, report, stop } = ports;
  const began = clock.monotonicNanos();
  let row = drained;
  while (row.state !== 'DRAINING' || row.active_auctions !== 0) {
    if (row.state === 'ACTIVE') {
      throw new CommandFault(
        `shard ${row.shard} is no longer draining: it was resumed or restarted`,
        EXIT_REFUSED,
      );
    }
    const left = timeout === undefined ? undefined : timeout - waitedSince(began, clock);
    if (timeout !== undefined && left !== undefined && left <= 0) {
      throw new CommandFault(
        `${oneLine(row)}, after ${timeout / 1_000} s; the drain continues`,
        EXIT_REFUSED,
      );
    }
    if (stop.aborted) throw new CommandFault(`${oneLine(row)}; the drain continues`, EXIT_REFUSED);
    await untilNext(clock, stop, POLL_EVERY_MILLIS);
    const last = row;
    row = await pollAgain(last, ports, left);
    if (oneLine(row) !== oneLine(last)) report.progress(oneLine(row));
  }
  return row;
}

/** A gateway that does not answer must not delay the caller beyond the timeout. */
async function pollAgain(
  last: ShardRowJson,
  ports: OpsPorts,
  left: number | undefined,
): Promise<ShardRowJson> {
  const within = left === undefined ? undefined : Math.max(left - POLL_EVERY_MILLIS, MIN_POLL_MILLIS);
  const polled = rowsOf(ports, last.shard, within);
  const [next] = await polled.catch((error: unknown) => tolerateTemporary(error, ports, [last]));
  return next ?? last;
}

function waitedSince(began: bigint, clock: OpsPorts['clock']): number {
  return Number((clock.monotonicNanos() - began) / NANOS_PER_MILLI);
}

/** Resolves after the time, or when the command is stopped. */
function untilNext(clock: OpsPorts['clock'], stop: AbortSignal, millis: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(millis, () => {
      stop.removeEventListener('abort', stopWaiting);
      resolve();
    });
    const stopWaiting = (): void => {
      cancel();
      resolve();
    };
    if (stop.aborted) stopWaiting();
    else stop.addEventListener('abort', stopWaiting, { once: true });
  });
}

function pathOf(shard: number, verb: string): string {
  return `/v1/ops/shards/${shard}/${verb}`;
}

function oneLine({ shard, state, active_auctions: live }: ShardRowJson): string {
  if (live === undefined) return `shard ${shard} is ${state}`;
  return `shard ${shard} is ${state} with ${live} live auction${live === 1 ? '' : 's'}`;
}
