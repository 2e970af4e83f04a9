import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Config } from '#libs/platform/settings/config.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import type { demoConfig } from './config.js';

/** Where the demo is played, and what opens the door. */
export interface Stage {
  readonly url: string;
  readonly password: string;
}

const clusterFile = z.object({
  ready: z.boolean(),
  gateway_url: z.string(),
  demo: z.object({ password: z.string() }),
});

export async function findStage(config: Config<typeof demoConfig>): Promise<Stage> {
  if (config.SOTTO_URL !== undefined) return { url: config.SOTTO_URL, password: config.SOTTO_PASSWORD };
  const folder = path.resolve(config.DATA_DIR);
  const text = await readFile(path.join(folder, 'cluster.json'), 'utf8').catch(() => undefined);
  const cluster = text === undefined ? undefined : parsed(text, folder);
  if (cluster?.ready !== true) {
    throw new StartFault(
      `no cluster is running in ${folder}: start one with \`npm start\`, or set DATA_DIR or SOTTO_URL`,
    );
  }
  return { url: cluster.gateway_url, password: cluster.demo.password };
}

function parsed(text: string, folder: string): z.output<typeof clusterFile> {
  try {
    return clusterFile.parse(JSON.parse(text));
  } catch {
    throw new StartFault(`${folder}/cluster.json does not describe a cluster`);
  }
}
