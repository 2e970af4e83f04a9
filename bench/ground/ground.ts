import path from 'node:path';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { BenchDatabase } from './bench-database.js';
import { OrderFloor } from './order-floor.js';
import { BenchFloor } from './trading-floor.js';

/** Settings of a cluster that executes orders and nothing else. */
export const ORDERS_ALONE = { SERVICES: 'execution', PRACTICE_STILL: '1', LOAD_ACCOUNTS: 'makers:0' };

/** What rows stand on. Everything is made when it is first asked for, and ended at the end. */
export class Ground {
  private readonly ends: (() => Promise<unknown>)[] = [];
  private madeDatabase: Promise<BenchDatabase> | undefined;
  private madeFloor: Promise<BenchFloor> | undefined;
  private madeOrders: Promise<OrderFloor> | undefined;

  /** `profiles`: a folder for the processor profiles of all processes. */
  constructor(private readonly profiles: string | undefined) {}

  /** A database server of its own, with nothing running on it. */
  database(): Promise<BenchDatabase> {
    this.madeDatabase ??= BenchDatabase.start().then((database) => {
      this.ends.push(() => database.stop());
      return database;
    });
    return this.madeDatabase;
  }

  /** A cluster with many makers and originators, none of whom is held back. */
  floor(): Promise<BenchFloor> {
    this.madeFloor ??= this.cluster({}).then(async (cluster) => {
      const floor = await BenchFloor.open(cluster);
      this.ends.push(() => floor.close());
      return floor;
    });
    return this.madeFloor;
  }

  /** A cluster that executes orders, whose bots are still. */
  orders(): Promise<OrderFloor> {
    this.madeOrders ??= this.cluster(ORDERS_ALONE).then((cluster) => {
      const floor = OrderFloor.open(cluster);
      this.ends.push(() => floor.close());
      return floor;
    });
    return this.madeOrders;
  }

  /** A cluster that only one row uses, until it is done with it or everything ends. */
  async cluster(env: Readonly<Record<string, string>>): Promise<OwnedCluster> {
    const cluster = await startCluster({
      env: { LOAD_ACCOUNTS: 'makers:512,originators:64', LIMITS_FACTOR: '10000', ...this.profiled, ...env },
    });
    this.ends.push(() => cluster.stop());
    return cluster;
  }

  private get profiled(): Record<string, string> {
    if (this.profiles === undefined) return {};
    return { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${path.resolve(this.profiles)}` };
  }

  async end(): Promise<void> {
    for (const end of this.ends.splice(0).reverse()) await end();
  }
}
