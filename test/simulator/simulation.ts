import { MemorySnapshotStore } from '#libs/testing/journals/memory-snapshots.js';
import { thrown } from './campaign/thrown.js';
import { drive, settled } from './kernel/event-loop.js';
import { Host } from './kernel/host.js';
import { Random } from './kernel/random.js';
import { enterSandbox } from './kernel/sandbox.js';
import { Scheduler } from './kernel/scheduler.js';
import { NANOS_PER_MILLI } from './kernel/sim-clock.js';
import { Trace } from './kernel/trace.js';
import { Nemesis } from './nemesis.js';
import { LAST_PROOF_MILLIS } from './oracle/freshness.js';
import { Oracle, type TrueTime } from './oracle/oracle.js';
import { must, Violation } from './oracle/violation.js';
import { furnish } from './people/cast.js';
import { SimulatedWorkload } from './people/crowd.js';
import type { Plan } from './plan/draw.js';
import { SimulatedCluster } from './processes/cluster.js';
import { SHARDS, type World } from './processes/world.js';
import { SimulatedDatabase } from './storage/database.js';
import { Topic } from './storage/topic.js';
import type { TwinTranscript } from './twins/transcript.js';
import { Network } from './wire/network.js';

/** The result of one simulation. */
export interface SimulationOutcome {
  readonly seed: number;
  readonly violation: { readonly check: string; readonly what: string } | undefined;
  readonly digest: string;
  readonly steps: number;
  readonly simulatedMillis: number;
  readonly coverage: Readonly<Record<string, number>>;
  readonly lines: readonly string[];
}

/** Optional observers of a simulation. */
export interface Watching {
  readonly keepsTrace?: boolean;
  readonly transcript?: TwinTranscript;
}

const REST_WITHIN_MILLIS = 120_000;
const LOOK_MILLIS = 200;
/** How long a deposed owner that goes on may need to notice. */
const HEALING_MILLIS = 1_500;
const UNNOTICED_STEP_MILLIS = 500;
const LIVENESS = 'everything comes to rest';

let lineListener: ((line: string) => void) | undefined;

/**
 * Listens to each line of this thread's traces as soon as it is noted: a world that never ends could not report
 * it later.
 */
export function hearLines(listener: ((line: string) => void) | undefined): void {
  lineListener = listener;
}

class HeardTrace extends Trace {
  override note(text: string): void {
    super.note(text);
    const line = this.lines.at(-1);
    if (line !== undefined) lineListener?.(line);
  }
}

/** One world from beginning to end. */
class Simulation {
  private readonly scheduler = new Scheduler();
  private readonly random: Random;
  private readonly trace: Trace;
  private readonly world: World;
  private readonly oracle: Oracle;
  private readonly cluster: SimulatedCluster;
  private readonly crowd: SimulatedWorkload;
  private readonly nemesis: Nemesis;
  private readonly faults = new Map<string, number>();
  private isDone = false;
  private isReading = false;
  private recalled = 0;
  private told = 0;
  private broken: Violation | undefined;

  constructor(
    private readonly plan: Plan,
    { keepsTrace = false, transcript }: Watching,
  ) {
    this.random = new Random(`world ${plan.seed}`);
    this.trace = new HeardTrace(this.scheduler, keepsTrace);
    this.world = this.build();
    const { tables } = this.world.database;
    furnish(tables, plan);
    this.oracle = new Oracle(tables, () => this.scheduler.now / NANOS_PER_MILLI, this.trueTime());
    this.cluster = new SimulatedCluster(this.world, plan);
    const { gateways } = this.cluster;
    this.crowd = new SimulatedWorkload({
      world: this.world,
      oracle: this.oracle,
      plan,
      random: this.random.fork('crowd'),
      gateways,
      transcript,
    });
    this.nemesis = new Nemesis(this.world, this.cluster, this.crowd, this.random.fork('nemesis'));
  }

  async run(): Promise<SimulationOutcome> {
    const leave = enterSandbox(this.scheduler, this.turnLength());
    const release = this.catchWhatNobodyCatches();
    const first = await this.search().then(
      () => this.broken,
      (error: unknown) => this.violationOf(error),
    );
    // Nothing of this world may run on into the next one.
    await settled();
    leave();
    release();
    const found = first ?? this.broken;
    if (found !== undefined) this.trace.note(`violation: ${found.message}`);
    return {
      seed: this.plan.seed,
      violation: found === undefined ? undefined : { check: found.check, what: found.message },
      digest: this.trace.digest(),
      steps: this.scheduler.steps,
      simulatedMillis: Math.round(this.scheduler.now / NANOS_PER_MILLI),
      coverage: this.coverage(),
      lines: this.trace.lines,
    };
  }

  private async search(): Promise<void> {
    const { scheduler, plan, crowd, nemesis } = this;
    this.cluster.start();
    for (const viewer of crowd.viewers) this.at(300, () => viewer.connect());
    for (const incident of plan.incidents) {
      this.at(incident.atMillis, () => {
        if (incident.kind === 'FAULT') nemesis.strike(incident);
        else crowd.do(incident);
      });
    }
    this.at(plan.activeMillis, () => this.heal());
    const end = (plan.activeMillis + REST_WITHIN_MILLIS) * NANOS_PER_MILLI;
    await drive(() => this.broken === undefined && !this.isDone && scheduler.step(end));
    if (this.broken === undefined)
      must(this.isDone, LIVENESS, () => (this.isReading ? 'reads are refused' : this.unrest()));
  }

  private heal(): void {
    const { network, topics, database } = this.world;
    this.trace.note('from here on there are no faults');
    network.calm();
    database.calm();
    for (const topic of topics) topic.calm();
    this.cluster.heal();
    this.at(HEALING_MILLIS, () => this.lookForRest());
  }

  private lookForRest(): void {
    this.scheduler.after(LOOK_MILLIS * NANOS_PER_MILLI, undefined, () => {
      if (this.unrest() !== '') this.lookForRest();
      else this.finish();
    });
  }

  private finish(): void {
    this.trace.note('at rest');
    this.isReading = true;
    this.oracle.money.checkAtRest();
    this.crowd.checkAtRest();
    this.crowd.readAll(() => {
      this.isDone = true;
    });
  }

  /** What has not come to rest yet, as text; empty at rest. */
  private unrest(): string {
    const { tables } = this.world.database;
    const open = [...this.oracle.files.values()].filter(({ stage }) => stage !== 'COMPLETED');
    if (open.length > 0)
      return `${open.length} auctions are not over, ${open[0]?.id ?? ''} is ${open[0]?.stage ?? ''}`;
    if (!this.crowd.isAtRest)
      return `${this.crowd.errands.waiting} commands have no answer, or a stream has not begun`;
    for (const shard of SHARDS) {
      const projected = tables.positions.rows.get(String(shard))?.sequence ?? 0;
      const head = this.oracle.copies[shard]?.head ?? 0;
      if (projected !== head) return `shard ${shard} is projected up to ${projected} of ${head}`;
    }
    const held = [...tables.reserved.rows.values()].some((amounts) => amounts.some((amount) => amount !== 0));
    if (held) return 'something is still reserved';
    for (const { name, replacedForMillis: since = Infinity } of this.cluster.units.values())
      if (since < LAST_PROOF_MILLIS) return `a ${name} that was replaced may not have noticed yet`;
    const isIncomplete = this.crowd.viewers.some((viewer) => !viewer.hasAll);
    return isIncomplete ? 'a viewer was not sent everything' : '';
  }

  private trueTime(): TrueTime {
    const { plan } = this;
    return {
      now: () => this.world.database.now(),
      aheadMillis: trustedMillis(plan),
      isCalm: plan.isCalm,
      servesSince: (shard) => this.cluster.units.get(`owner-${shard}`)?.readyMillis ?? Infinity,
      formerWentOn: (shard, at) => this.cluster.units.get(`owner-${shard}`)?.wentOn(at) ?? false,
      streams: {
        graces: plan.graces,
        absence: (account, connectionId) => this.crowd.absence(account, connectionId),
      },
    };
  }

  private at(millis: number, act: () => void): void {
    this.scheduler.after(millis * NANOS_PER_MILLI, undefined, act);
  }

  private turnLength(): () => number {
    const random = this.random.fork('turns');
    return () => random.next();
  }

  /** A process must not catch what the world's own checks throw while it runs. */
  private guarded(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.broken ??= this.violationOf(error);
    }
  }

  /** An uncaught error would end the process, so it fails the world, and not the thread. */
  private catchWhatNobodyCatches(): () => void {
    const note = (error: unknown): void => {
      this.broken ??= this.violationOf(error);
    };
    process.on('uncaughtException', note);
    process.on('unhandledRejection', note);
    return () => {
      process.off('uncaughtException', note);
      process.off('unhandledRejection', note);
    };
  }

  private violationOf(error: unknown): Violation {
    if (error instanceof Violation) return error;
    const { running } = this.scheduler;
    const where = running instanceof Host ? `${running.name}: ` : '';
    return new Violation('no process throws', `${where}${thrown(error)}`);
  }

  private onCommit(workedAt: string): void {
    this.guarded(() => this.oracle.onCommit(workedAt));
    this.nemesis.onCommit();
  }

  private build(): World {
    const { scheduler, random, trace, plan } = this;
    const onAppend = (shard: number) => (offset: number, value: Buffer) => {
      this.guarded(() => this.oracle.onMessage(shard, offset, value));
    };
    return {
      scheduler,
      random,
      trace,
      network: new Network(scheduler, random.fork('network'), plan.wire, trace),
      topics: SHARDS.map(
        (shard) =>
          new Topic(shard, scheduler, random.fork(`topic ${shard}`), plan.topic, trace, onAppend(shard)),
      ),
      database: new SimulatedDatabase(scheduler, random.fork('database'), plan.database, trace, (workedAt) =>
        this.onCommit(workedAt),
      ),
      snapshots: new MemorySnapshotStore(),
      settings: plan.settings,
      feeds: new Map(),
      onRecall: () => {
        this.recalled += 1;
      },
      onTold: () => {
        this.told += 1;
      },
      onFault: (host, what, error) => {
        trace.note(`${host}: ${what} failed: ${error instanceof Error ? error.message : String(error)}`);
        this.faults.set(what, (this.faults.get(what) ?? 0) + 1);
      },
    };
  }

  private coverage(): Record<string, number> {
    const { network, topics, database } = this.world;
    const counted: [string, ReadonlyMap<string, number>][] = [
      ['fault', this.nemesis.met],
      ['wire', network.met],
      ...topics.map(({ met }): [string, ReadonlyMap<string, number>] => ['topic', met]),
      ['database', database.met],
      ...this.crowd.viewers.map(({ met }): [string, ReadonlyMap<string, number>] => ['stream', met]),
      ['answer', this.crowd.promises.codes],
      ...this.oracle.copies.map(({ ignored }): [string, ReadonlyMap<string, number>] => ['ignored', ignored]),
    ];
    const sums: Record<string, number> = {};
    for (const [kind, counts] of counted) {
      for (const [name, count] of counts) sums[`${kind} ${name}`] = (sums[`${kind} ${name}`] ?? 0) + count;
    }
    for (const [name, count] of this.oracle.reached) sums[name] = count;
    sums['clocks that drift'] = [...this.cluster.units.values()].reduce((sum, { drifts }) => sum + drifts, 0);
    sums['snapshots read'] = this.world.snapshots.found;
    sums['stream recalled'] = this.recalled;
    sums['stream told by owners'] = this.told;
    sums['calm worlds'] = this.plan.isCalm ? 1 : 0;
    for (const viewer of this.crowd.viewers) {
      for (const { events } of viewer.records.values())
        sums['stream events'] = (sums['stream events'] ?? 0) + events;
    }
    sums.reads = this.crowd.reader.reads;
    return sums;
  }
}

/**
 * An owner trusts a clock that agrees with the database's within the allowed difference plus half of the
 * answer's round trip, until the clock is set by more than goes unnoticed.
 */
function trustedMillis({ settings }: Plan): number {
  return 3 * settings.shard.maxClockOffsetMillis + UNNOTICED_STEP_MILLIS;
}

export function simulate(plan: Plan, watching: Watching = {}): Promise<SimulationOutcome> {
  return new Simulation(plan, watching).run();
}
