import { randomInt } from 'node:crypto';
import type { Pool } from 'pg';
import { PolicyWatch } from '#libs/auction/admission/policy/policy-watch.js';
import { PostgresReservationDesk } from '#libs/auction/admission/risk/postgres-desk.js';
import type { Instant } from '#libs/base/instant.js';
import { PostgresSettlement } from '#libs/auction/settlement/postgres-settlement.js';
import { IdFactory } from '#libs/auction/shard/ids.js';
import { PolicyDesk } from '#libs/auction/shard/policy-desk.js';
import { holdsByAccount } from '#libs/auction/shard/recovery/recovery.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { pause, repeat, type Clock } from '#libs/platform/time/clock.js';
import { refuseUnfitDatabaseAt } from '#libs/platform/database/fit-database.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { auctionProjection } from '#libs/auction/projections/projection.js';
import { projectionLag } from '#libs/projecting/following/lag.js';
import { calendarOf, type Calendar } from './calendar.js';
import type { SeedCall } from './call.js';
import { SeedAccounts } from './cast.js';
import { CompletedAuctionSeeder } from './completed-auctions.js';
import { OpenAuctions } from './open-auctions.js';
import type { SeedPlace } from './place.js';
import { Planner } from './planner.js';
import { Sample } from './sample.js';
import { ShardRelay } from './shard-relay.js';
import type { ShardScribe } from './shard-scribe.js';
import { StandIn } from './stand-in.js';

export interface SeedPorts {
  readonly place: SeedPlace;
  readonly clock: Clock;
  readonly say: (line: string) => void;
}

const POOL = 8;
const REPORT_MILLIS = 2_000;
const POLL_MILLIS = 250;
const RANDOM_RANGE = 2 ** 32;
const KEY_BASE = 36;

/**
 * Fills a running cluster while the owners of its shards are stopped. The owners may start again in any case.
 */
export async function seed(call: SeedCall, ports: SeedPorts): Promise<object> {
  const { place, clock } = ports;
  await refuseUnfitDatabaseAt(place.cluster.database_url);
  const pool = openPool(place.cluster.database_url, { applicationName: 'seed', max: POOL });
  const policy = new PolicyWatch(pool, clock);
  const seals = new RecordMacs('auction', place.idKeys);
  const journal = new PostgresJournal({
    family: 'auction',
    url: place.cluster.database_url,
    clock,
    opener: 'seed',
    seals,
  });
  const relay = new ShardRelay(place, journal, clock);
  const cast = new SeedAccounts(place.cluster, call.audience, call.completed + call.open);
  try {
    await policy.start();
    ports.say('stopping the owners');
    const writers = await relay.take();
    const standIns = await Promise.all(
      writers.map((writer) => StandIn.begin(writer, { pool, clock, idKeys: place.idKeys })),
    );
    const result = await new Seeding(call, ports, { pool, policy, cast, standIns }).run();
    await relay.giveBack();
    ports.say('starting the owners');
    await relay.untilReady();
    return result;
  } finally {
    policy.stop();
    await relay.giveBack();
    await pool.end();
  }
}

interface SeedingParts {
  readonly pool: Pool;
  readonly policy: PolicyWatch;
  readonly cast: SeedAccounts;
  readonly standIns: readonly StandIn[];
}

class Seeding {
  private readonly planner: Planner;
  private readonly sample: Sample;
  private readonly reader: PostgresJournalReader;
  private opened = 0;

  constructor(
    private readonly call: SeedCall,
    private readonly ports: SeedPorts,
    private readonly parts: SeedingParts,
  ) {
    const { place, clock } = ports;
    const ids = new IdFactory(...place.idKeys);
    const name = `seed-${(clock.epochNanos() / 1_000n).toString(KEY_BASE)}`;
    // Seeding awards nothing before the owner starts.
    const policy = new PolicyDesk(parts.policy, ids, clock, { isInDoubt: () => false });
    this.planner = new Planner(parts.cast, ids, policy, parts.policy, name);
    this.sample = new Sample(parts.cast);
    this.reader = new PostgresJournalReader(parts.pool, 'auction');
  }

  async run(): Promise<object> {
    const { completed, open } = this.call;
    if (completed > 0) {
      await this.withProgress(this.playCompleted(), `of ${completed} completed auctions`);
      await this.projected();
      for (const standIn of this.parts.standIns) await standIn.snapshot();
    }
    if (open > 0) {
      this.opened = 0;
      await this.withProgress(this.playOpen(), `of ${open} open auctions`);
      await this.projected();
    }
    for (const table of [
      'completed.viewers',
      'completed.auctions',
      'auction_history.events',
      'journal.records',
    ]) {
      await this.parts.pool.query(`analyze ${table}`);
    }
    return { completed, open, ...this.sample.told };
  }

  private async playCompleted(): Promise<void> {
    const { planner } = this;
    const { clock } = this.ports;
    const ledger = new PostgresSettlement(this.parts.pool, clock, random);
    const calendar = await this.calendar();
    const auctions = new CompletedAuctionSeeder(
      { planner, ledger, clock, onOpened: this.note, onCompleted: () => undefined },
      calendar,
      this.call.quotes.completed,
    );
    await Promise.all(this.scribes.map((scribe) => auctions.play(scribe)));
  }

  private async playOpen(): Promise<void> {
    const { planner } = this;
    const { clock, place } = this.ports;
    const auctions = new OpenAuctions({ planner, clock, onOpened: this.note }, this.call.quotes.open);
    const from = this.call.completed;
    // One shard after another: concurrent reservations of the same accounts would conflict.
    for (const scribe of this.scribes) {
      const { epoch } = scribe.writer.head;
      const desk = await PostgresReservationDesk.open({
        url: place.cluster.database_url,
        shard: scribe.shard,
        epoch,
        clock,
        random,
      });
      try {
        await desk.reconcile(holdsByAccount(scribe.book));
        await auctions.play(scribe, desk, { from, end: from + this.call.open });
      } finally {
        await desk.close();
      }
    }
  }

  /** A journal never goes back in time, so its last event must be some time ago. */
  private async calendar(): Promise<Calendar> {
    const { clock } = this.ports;
    const latest = this.scribes.map((scribe) => scribe.latest).reduce((a, b) => (a > b ? a : b));
    for (;;) {
      const calendar = calendarOf(this.call.completed, latest, clock.epochNanos());
      if (calendar !== undefined) return calendar;
      await pause(clock, POLL_MILLIS);
    }
  }

  /** The cluster's projector follows all the time. This waits until it has caught up. */
  private async projected(): Promise<void> {
    const lag = async (): Promise<number> => {
      const rows = await projectionLag({
        pool: this.parts.pool,
        reader: this.reader,
        projection: auctionProjection,
      });
      return rows.reduce((sum, row) => sum + row.lag, 0);
    };
    let lagging = await lag();
    let tell = 0;
    while (lagging > 0) {
      if (tell <= 0) this.ports.say(`the projections lag by ${lagging} records`);
      tell = tell <= 0 ? REPORT_MILLIS : tell - POLL_MILLIS;
      await pause(this.ports.clock, POLL_MILLIS);
      lagging = await lag();
    }
  }

  private async withProgress(work: Promise<void>, of: string): Promise<void> {
    const tell = (): void => {
      this.ports.say(`${this.opened} ${of}`);
    };
    const cancel = repeat(this.ports.clock, REPORT_MILLIS, () => {
      tell();
      return Promise.resolve();
    });
    try {
      await work;
    } finally {
      cancel();
    }
    tell();
  }

  private get scribes(): readonly ShardScribe[] {
    return this.parts.standIns.map(({ scribe }) => scribe);
  }

  private readonly note = (number: number, auctionId: string, at: Instant): void => {
    this.opened += 1;
    this.sample.note(number, auctionId, at);
  };
}

function random(): number {
  return randomInt(RANDOM_RANGE) / RANDOM_RANGE;
}
