import type { Plan } from '../plan/draw.js';
import { bootSettler } from './settler.js';
import { bootGateway } from './gateway.js';
import { bootOwner } from './owner.js';
import { bootProjector } from './projector.js';
import { Unit } from './unit.js';
import { SHARDS, type World } from './world.js';

/** All processes of a simulated cluster, by name. */
export class SimulatedCluster {
  readonly units = new Map<string, Unit>();
  readonly gateways: readonly string[];

  constructor(world: World, { gateways, projectors, settlers }: Plan) {
    this.gateways = named('gateway', gateways);
    for (const shard of SHARDS) this.add(new Unit(`owner-${shard}`, world, (life) => bootOwner(life, shard)));
    for (const name of this.gateways) this.add(new Unit(name, world, bootGateway));
    for (const name of named('projector', projectors)) this.add(new Unit(name, world, bootProjector));
    for (const name of named('settler', settlers)) this.add(new Unit(name, world, bootSettler));
  }

  start(): void {
    for (const unit of this.units.values()) unit.start();
  }

  /** All processes run again, with correct clocks. */
  heal(): void {
    for (const unit of this.units.values()) {
      unit.resumeAll();
      unit.life?.clock.setWall(0);
    }
  }

  private add(unit: Unit): void {
    this.units.set(unit.name, unit);
  }
}

function named(kind: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${kind}-${index}`);
}
