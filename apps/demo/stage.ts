import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Config } from '#libs/platform/settings/config.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { shellWord } from '#libs/platform/terminal/visible-text.js';
import { demoConfig } from './config.js';

/** The gateway of the demo, and the password of its accounts. */
export interface DemoStage {
  readonly url: string;
  readonly password: string;
}

const clusterFile = z.object({
  ready: z.boolean(),
  gateway_url: z.string(),
  demo: z.object({ password: z.string() }),
});

export async function findStage(config: Config<typeof demoConfig>): Promise<DemoStage> {
  if (config.SOTTO_URL !== undefined) return { url: config.SOTTO_URL, password: config.SOTTO_PASSWORD };
  const folder = path.resolve(config.DATA_DIR);
  const text = await readFile(path.join(folder, 'cluster.json'), 'utf8').catch(() => undefined);
  const cluster = text === undefined ? undefined : parsed(text, folder);
  if (cluster?.ready !== true) {
    throw new StartFault(
      `no cluster is running in ${folder}: start one with \`${startIn(config.DATA_DIR)}\`, or set DATA_DIR or SOTTO_URL`,
    );
  }
  return { url: cluster.gateway_url, password: cluster.demo.password };
}

/** The command that starts a cluster there, ready to paste. */
function startIn(folder: string): string {
  return folder === demoConfig.DATA_DIR.default ? 'npm start' : `DATA_DIR=${shellWord(folder)} npm start`;
}

function parsed(text: string, folder: string): z.output<typeof clusterFile> {
  try {
    return clusterFile.parse(JSON.parse(text));
  } catch {
    throw new StartFault(`${folder}/cluster.json does not describe a cluster`);
  }
}
