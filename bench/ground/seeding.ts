import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export interface Seeded {
  readonly sample_ids: readonly string[];
  readonly rare_viewer: string;
}

/** Runs `npm run seed` on the cluster of this data folder. */
export async function seedCluster(dataDir: string, args: readonly string[]): Promise<Seeded> {
  const script = fileURLToPath(new URL('../seed.js', import.meta.url));
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number]>]);
  if (code !== 0) throw new Error(`the seed ended with ${code}`);
  return JSON.parse(output) as Seeded;
}
