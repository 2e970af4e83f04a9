import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { defineConfig, loadConfig, type Environment } from '#libs/platform/settings/config.js';
import { nonEmpty } from '#libs/platform/settings/setting-types.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { idKeysIn } from '#apps/cli/id-keys.js';

export const seedSettings = defineConfig({
  DATA_DIR: { schema: nonEmpty(), describe: 'Data folder of the running cluster', default: '.data' },
});

const clusterSchema = z.object({
  ready: z.boolean(),
  database_url: z.string(),
  processes: z.array(
    z.object({ name: z.string(), kind: z.string(), pid: z.number(), health_url: z.string() }),
  ),
  demo: z.object({
    users: z.array(z.object({ email: z.string(), account_id: z.string(), roles: z.array(z.string()) })),
  }),
  contracts: z.array(
    z.object({
      venue: z.string(),
      contract_id: z.string(),
      outcome: z.string(),
      price_tick_atoms: z.number(),
    }),
  ),
});

export type SeedCluster = z.output<typeof clusterSchema>;

/** A running cluster, and what is needed to write for its stopped owners. */
export interface SeedPlace {
  readonly cluster: SeedCluster;
  readonly idKeys: readonly [Buffer, ...Buffer[]];
  /** Reads the cluster file again, because pids change. */
  readonly look: () => Promise<SeedCluster>;
}

export async function findPlace(environment: Environment): Promise<SeedPlace> {
  const folder = path.resolve(loadConfig(seedSettings, environment).DATA_DIR);
  const look = async (): Promise<SeedCluster> => {
    return clusterSchema.parse(JSON.parse(await readFile(path.join(folder, 'cluster.json'), 'utf8')));
  };
  const cluster = await look().catch(() => undefined);
  if (cluster?.ready !== true) {
    throw new StartFault(`no cluster runs in ${folder}: start one, or set DATA_DIR`, EXIT.config);
  }
  const idKeys = await idKeysIn(folder);
  if (idKeys === undefined) throw new StartFault(`${folder} has no secrets.json`, EXIT.damaged);
  return { cluster, idKeys, look };
}
