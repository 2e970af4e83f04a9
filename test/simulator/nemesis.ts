import { NANOS_PER_MILLI } from './kernel/sim-clock.js';
import type { Random } from './kernel/random.js';
import { closeMarket } from './people/authority.js';
import { FOG, MARKETS } from './people/cast.js';
import type { SimulatedWorkload } from './people/crowd.js';
import type { StreamViewer } from './people/viewer.js';
import type { PlannedFault, FaultName } from './plan/plan.js';
import type { SimulatedCluster } from './processes/cluster.js';
import { BALANCES } from './storage/statements/custody-statements.js';
import { ownerAddress } from './processes/owner.js';
import type { Unit } from './processes/unit.js';
import type { World } from './processes/world.js';

/** Longer than the shortest time in which awards have to be settled. */
const LEAST_DEPOSED_MILLIS = 1_500;
/** Enough time for a command to arrive, in most cases. */
const EVE_MILLIS = 100;
const LONG_MILLIS = 5_500;
/** A crashed process has usually restarted after this time; projectors stay paused that long too. */
const RESTARTED_MILLIS = 1_750;
const UNPROJECTED_MILLIS = 2_500;
/** Up to this age an owner may answer from memory, whatever its broker reports. */
const STALE_MILLIS = 5_500;

/** Injects the planned faults, and counts those that took effect. */
export class Nemesis {
  readonly met = new Map<string, number>();
  /** How long settlers pause after the next settlement; undefined if no such pause is planned. */
  private armedFor: number | undefined;
  private settled = 0;

  constructor(
    private readonly world: World,
    private readonly cluster: SimulatedCluster,
    private readonly crowd: SimulatedWorkload,
    private readonly random: Random,
  ) {}

  /** A fault that waits for its moment is counted when it happens. */
  strike(fault: PlannedFault): void {
    const unit = this.cluster.units.get(fault.target);
    if (unit === undefined) return;
    if (!this.carryOut(fault, unit)) return;
    this.count(fault.name);
    this.world.trace.note(`fault: ${fault.name} ${fault.target} ${fault.other} ${fault.millis} ms`);
  }

  /** Something was committed to the database. */
  onCommit(): void {
    const millis = this.armedFor;
    if (millis === undefined || this.world.database.tables.settlements.rows.size <= this.settled) return;
    this.armedFor = undefined;
    if (!this.pauseAll('settler', millis)) return;
    this.count('LONG_PAUSE');
    this.world.trace.note(`settlers pause for ${millis} ms before they report a settlement`);
  }

  private carryOut({ name, target, other, millis }: PlannedFault, unit: Unit): boolean {
    const { network, database } = this.world;
    switch (name) {
      case 'CRASH':
        if (unit.life === undefined) return false;
        unit.crash();
        return true;
      case 'PAUSE':
        unit.pause();
        this.later(millis, () => unit.resumeAll());
        return unit.life !== undefined;
      case 'LONG_PAUSE':
        this.armedFor = LONG_MILLIS + millis;
        this.settled = database.tables.settlements.rows.size;
        return false;
      case 'PROJECTORS_PAUSE':
        return this.pauseAll('projector', millis);
      case 'CRASH_UNPROJECTED':
        this.crashUnprojected(unit, millis);
        return false;
      case 'DEPOSE':
        if (unit.life === undefined) return false;
        unit.replace();
        // Callers that use the new owner produce news; those still connected to the old one must not get stale answers.
        network.cut(target, this.random.pick(this.cluster.gateways));
        // These reads arrive while the owner is still paused, and are the first that it answers.
        this.later(LEAST_DEPOSED_MILLIS + millis - EVE_MILLIS, () => this.crowd.lookEverywhere());
        this.later(LEAST_DEPOSED_MILLIS + millis, () => unit.resumeAll());
        return true;
      case 'RIVAL':
        if (unit.life === undefined) return false;
        unit.rival();
        return true;
      case 'CUT':
        return network.cut(target, other) > 0;
      case 'PARTITION':
        network.block(target, other);
        this.later(millis, () => network.unblock(target, other));
        return target !== other;
      case 'CLOCK_JUMP':
        unit.life?.clock.setWall(millis);
        return unit.life !== undefined;
      case 'DATABASE_RESTART':
      case 'DATABASE_OUTAGE':
        if (database.isDown) return false;
        database.goDown();
        this.later(millis, () => database.comeBack());
        return true;
      case 'LEDGER_HELD': {
        const stranger = {};
        database.lock(stranger, [BALANCES], () => this.later(millis, () => database.unlock(stranger)));
        return true;
      }
      case 'BROKER_OUTAGE': {
        const topic = this.random.pick(this.world.topics);
        topic.goDown();
        this.later(millis, () => topic.comeBack());
        return true;
      }
      case 'GATEWAY_BEHIND':
        this.fallBehind(this.random.pick(this.cluster.gateways), millis);
        return true;
      case 'OWNER_BEHIND':
        return this.leaveBehind(unit, STALE_MILLIS + millis);
      case 'MARKET_CLOSES':
        closeMarket(database, MARKETS.get(other) ?? FOG);
        return true;
      case 'READER_STOPS': {
        const viewers = this.someViewers();
        for (const viewer of viewers) viewer.stopReading();
        this.later(millis, () => {
          for (const viewer of viewers) viewer.readOn();
        });
        return true;
      }
      case 'STREAM_AWAY':
        return this.crowd.viewers.find(({ account }) => account === other)?.stayAway(millis) ?? false;
      case 'STREAM_CUT':
        for (const viewer of this.someViewers()) viewer.drop();
        return true;
    }
  }

  private someViewers(): readonly StreamViewer[] {
    const { viewers } = this.crowd;
    return this.random.chance(0.4) ? viewers : [this.random.pick(viewers)];
  }

  /**
   * A gateway's broker gets no news for a while, and clients with newer positions come over from other
   * gateways. Owners would tell the gateway the news, so in most cases it is cut off from them too.
   */
  private fallBehind(gateway: string, millis: number): void {
    const { topics, network } = this.world;
    const misleading = this.random.chance(0.5) ? topics : [this.random.pick(topics)];
    const silent = this.random.chance(0.7) ? misleading.map(({ shard }) => ownerAddress(shard)) : [];
    for (const topic of misleading) topic.mislead(gateway);
    for (const owner of silent) network.block(gateway, owner);
    this.later(millis, () => {
      for (const topic of misleading) topic.enlighten(gateway);
      for (const owner of silent) network.unblock(gateway, owner);
    });
    this.later(millis * this.random.next(), () => {
      for (const viewer of this.crowd.viewers) viewer.drop();
    });
  }

  /** Replaces an owner whose broker has been deposed as well: neither knows of it, and existing connections stay. */
  private leaveBehind(unit: Unit, millis: number): boolean {
    const { life } = unit;
    if (life === undefined) return false;
    const { topics } = this.world;
    for (const topic of topics) topic.mislead(life.host);
    unit.rival();
    this.later(millis, () => {
      for (const topic of topics) topic.enlighten(life.host);
    });
    return true;
  }

  /** The process ends before its last writes are projected; its successor must answer repeats from the journal. */
  private crashUnprojected(unit: Unit, millis: number): void {
    this.pauseAll('projector', millis + UNPROJECTED_MILLIS);
    const crashesAfter = (millis * (1 + this.random.next())) / 2;
    this.later(crashesAfter, () => {
      if (unit.life === undefined) return;
      this.count('CRASH_UNPROJECTED');
      this.world.trace.note(`fault: CRASH_UNPROJECTED ${unit.name}`);
      unit.crash();
    });
    this.later(crashesAfter + RESTARTED_MILLIS, () => {
      this.crowd.repeatLatest();
    });
  }

  /** False if there was no process to pause. */
  private pauseAll(kind: string, millis: number): boolean {
    const units = [...this.cluster.units.values()].filter(({ name }) => name.startsWith(kind));
    for (const unit of units) unit.pause();
    this.later(millis, () => {
      for (const unit of units) unit.resumeAll();
    });
    return units.some(({ life }) => life !== undefined);
  }

  private count(name: FaultName): void {
    this.met.set(name, (this.met.get(name) ?? 0) + 1);
  }

  private later(millis: number, act: () => void): void {
    this.world.scheduler.after(millis * NANOS_PER_MILLI, undefined, act);
  }
}
