import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ReservationDesk } from '#libs/auction/admission/reservation-desk.js';
import type { AwardConclusion, ShardMeter } from '#libs/auction/shard/ports.js';
import type { Shard } from '#libs/auction/shard/shard.js';
import { REFUSALS, type RefusedSnapshot } from '#libs/journal/sealed-snapshots.js';

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const MILLIS_PER_SECOND = 1_000;
const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

const KINDS = ['create', 'cancel', 'submit', 'revise', 'withdraw', 'withdraw_all'];
/** Answers that alerts watch. */
const ALARMING = [
  { status: '500', code: 'internal_error' },
  { status: '503', code: 'auction_owner_unavailable' },
];

/** The metrics that operators watch for a shard. */
export class OwnerMetrics implements ShardMeter {
  private readonly commands: Counter;
  private readonly appendSeconds: Histogram;
  private readonly batchRecords: Histogram;
  private readonly snapshotsRefused: Counter;
  private readonly givenUp: Counter;

  constructor(registry: Registry, number: number, shard: () => Shard | undefined, desk: ReservationDesk) {
    const registers = [registry];
    this.commands = commandCounter(registry);
    this.snapshotsRefused = refusalCounter(registry);
    this.givenUp = new Counter({
      name: 'sotto_awards_given_up_total',
      help: 'Awards that were not settled by their execution deadline',
      registers,
    });
    this.appendSeconds = new Histogram({
      name: 'sotto_journal_append_seconds',
      help: 'Time from handing a batch to the journal until it is durable',
      buckets: SECONDS,
      registers,
    });
    this.batchRecords = new Histogram({
      name: 'sotto_journal_batch_records',
      help: 'Records in a batch',
      buckets: BATCHES,
      registers,
    });
    measureShard(registry, number, shard);
    measureReservations(registry, desk);
  }

  command(kind: string, status: number, code: string): void {
    this.commands.inc({ kind, status: String(status), code });
  }

  snapshotRefused(reason: RefusedSnapshot['reason']): void {
    this.snapshotsRefused.inc({ reason });
  }

  /** Counts awards that the owner gives up for good, whether or not a settler runs. */
  watched(conclusion: AwardConclusion): AwardConclusion {
    return {
      abandon: async (awardId, reason) => {
        const result = await conclusion.abandon(awardId, reason);
        if (result.outcome === 'FAILED') this.givenUp.inc();
        return result;
      },
    };
  }

  appended(records: number, seconds: number): void {
    this.appendSeconds.observe(seconds);
    this.batchRecords.observe(records);
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

function total(registry: Registry, name: string, help: string, value: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(value());
    },
  });
}

function measureShard(registry: Registry, number: number, shard: () => Shard | undefined): void {
  gauge(
    registry,
    'sotto_command_queue_depth',
    'Commands waiting for the command loop',
    () => shard()?.queueDepth ?? 0,
  );
  gauge(
    registry,
    'sotto_journal_append_waiting_seconds',
    'How long the current append has taken so far; no histogram shows one that hangs',
    () => shard()?.appendingSeconds ?? 0,
  );
  gauge(
    registry,
    'sotto_journal_head',
    'Sequence of the last record that is durable',
    () => shard()?.head.sequence ?? 0,
  );
  gauge(registry, 'sotto_journal_epoch', 'Epoch in which this owner writes', () => shard()?.head.epoch ?? 0);
  gauge(registry, 'sotto_active_auctions', 'Live auctions of this shard', () => shard()?.book.liveCount ?? 0);
  gauge(
    registry,
    'sotto_clock_offset_seconds',
    "How far the database's clock is ahead of ours",
    () => (shard()?.conditions.clock.offsetMillis ?? 0) / MILLIS_PER_SECOND,
  );
  new Gauge({
    name: 'sotto_projection_lag_events',
    help: 'Events that the projections may not have yet',
    labelNames: ['shard'],
    registers: [registry],
    collect() {
      this.set({ shard: number }, shard()?.conditions.projection.lagEvents ?? 0);
    },
  });
}

function measureReservations(registry: Registry, desk: ReservationDesk): void {
  gauge(
    registry,
    'sotto_reservation_keys',
    'Resources of accounts with a reservation of this shard',
    () => desk.totals().keys,
  );
  gauge(
    registry,
    'sotto_reservations_unwritten',
    'Resources whose row may differ from memory',
    () => desk.totals().unwritten,
  );
  gauge(
    registry,
    'sotto_reservations_unwritten_seconds',
    'Longest time that such a row has waited to be written',
    () => desk.totals().unwrittenSeconds,
  );
  total(registry, 'sotto_reservations_granted_total', 'Reservations granted', () => desk.totals().reserved);
  total(registry, 'sotto_reservations_refused_total', 'Reservations refused', () => desk.totals().refused);
  total(
    registry,
    'sotto_reservation_commits_total',
    'Reservation transactions committed',
    () => desk.totals().commits,
  );
  total(
    registry,
    'sotto_reservation_aborts_total',
    'Reservation transactions aborted',
    () => desk.totals().aborts,
  );
}

/** Starts each series at 0. Prometheus cannot see the growth of a series that starts with its first count. */
function commandCounter(registry: Registry): Counter {
  const counter = new Counter({
    name: 'sotto_commands_total',
    help: 'Commands answered, by kind and code',
    labelNames: ['kind', 'status', 'code'],
    registers: [registry],
  });
  for (const kind of KINDS) for (const labels of ALARMING) counter.inc({ kind, ...labels }, 0);
  return counter;
}

function refusalCounter(registry: Registry): Counter {
  const counter = new Counter({
    name: 'sotto_snapshots_refused_total',
    help: 'Snapshots that were found at the start and rejected, by reason',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of REFUSALS) counter.inc({ reason }, 0);
  return counter;
}
