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

/** Longer than the shortest time within which awards have to be settled. */
const LEAST_DEPOSED_MILLIS = 1_500;
/** As long as it takes to reach somebody, mostly. */
const EVE_MILLIS = 100;
const LONG_MILLIS = 5_500;
/** By then whoever has ended is mostly back, and so much longer nobody projects. */
const RESTARTED_MILLIS = 1_750;
const UNPROJECTED_MILLIS = 2_500;
/** For less an owner may answer from memory anyway, whatever its broker tells it. */
const STALE_MILLIS = 5_500;

/** Makes go wrong what the plan says, and counts what really did. */
export class Nemesis {
  readonly met = new Map<string, number>();
  /** For how long settlers are to stand still as soon as the ledger has settled another award. */
  private armedFor: number | undefined;
  private settled = 0;

  constructor(
    private readonly world: World,
    private readonly cluster: SimulatedCluster,
    private readonly crowd: SimulatedWorkload,
    private readonly random: Random,
  ) {}

  /** What only lies in wait is counted when it comes about. */
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
    this.world.trace.note(`settlers stand still for ${millis} ms before they tell of a settlement`);
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
        // Whoever comes to the other one makes news; whoever stays connected must not be told what is old.
        network.cut(target, this.random.pick(this.cluster.gateways));
        // What comes while it still stands is the first that it does.
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
        const viewers = this.somebody();
        for (const viewer of viewers) viewer.stopReading();
        this.later(millis, () => {
          for (const viewer of viewers) viewer.readOn();
        });
        return true;
      }
      case 'STREAM_AWAY':
        return this.crowd.viewers.find(({ account }) => account === other)?.stayAway(millis) ?? false;
      case 'STREAM_CUT':
        for (const viewer of this.somebody()) viewer.drop();
        return true;
    }
  }

  private somebody(): readonly StreamViewer[] {
    const { viewers } = this.crowd;
    return this.random.chance(0.4) ? viewers : [this.random.pick(viewers)];
  }

  /**
   * A gateway hears of nothing for a while, and clients come over to it that have heard more where they were. Owners would tell it what
   * its broker does not, so mostly it is cut off from them, too.
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

  /** An owner is replaced, and the broker that it asks has been deposed as well: neither knows of it, and who is connected stays so. */
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

  /** Nobody has read what the process wrote last when it ends; its successor has to know by itself what people ask for again. */
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

  /** False where there was nobody to stand still. */
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
