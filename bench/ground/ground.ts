import path from 'node:path';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { BenchDatabase } from './bench-database.js';
import { OrderFloor } from './order-floor.js';
import { BenchFloor } from './trading-floor.js';

/** Settings of a cluster that runs order execution only. */
export const ORDERS_ALONE = { SERVICES: 'execution', PRACTICE_STILL: '1', LOAD_ACCOUNTS: 'makers:0' };

/** The databases and clusters that rows use. Each is started on first use and stopped at the end. */
export class Ground {
  private readonly ends: (() => Promise<unknown>)[] = [];
  private startedDatabase: Promise<BenchDatabase> | undefined;
  private startedFloor: Promise<BenchFloor> | undefined;
  private startedOrders: Promise<OrderFloor> | undefined;

  /** `profiles`: a folder for the processor profiles of all processes. */
  constructor(private readonly profiles: string | undefined) {}

  /** A database server that runs nothing else. */
  database(): Promise<BenchDatabase> {
    this.startedDatabase ??= BenchDatabase.start().then((database) => {
      this.ends.push(() => database.stop());
      return database;
    });
    return this.startedDatabase;
  }

  /** A cluster with many makers and originators, and limits too high to matter. */
  floor(): Promise<BenchFloor> {
    this.startedFloor ??= this.cluster({}).then(async (cluster) => {
      const floor = await BenchFloor.open(cluster);
      this.ends.push(() => floor.close());
      return floor;
    });
    return this.startedFloor;
  }

  /** A cluster for orders, whose bots quote only once. */
  orders(): Promise<OrderFloor> {
    this.startedOrders ??= this.cluster(ORDERS_ALONE).then((cluster) => {
      const floor = OrderFloor.open(cluster);
      this.ends.push(() => floor.close());
      return floor;
    });
    return this.startedOrders;
  }

  /** A cluster for one row. The row may stop it; otherwise it stops at the end. */
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
