import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { StartFault } from '#libs/platform/process/start-fault.js';

const apiKey = z.object({
  name: z.string(),
  client_id: z.string(),
  api_key: z.string(),
  api_secret: z.string(),
});
export type ApiKey = z.output<typeof apiKey>;

const clusterFile = z.object({
  execution_url: z.string(),
  practice: z.object({ admin_url: z.string() }),
  processes: z.array(z.object({ name: z.string(), pid: z.number() })),
  demo: z.object({
    users: z.array(z.object({ email: z.string(), api_keys: z.array(apiKey).optional() })),
  }),
});

/** The running cluster on this machine: the keys of its traders, its practice venues and its processes. */
export class TradingStage {
  private constructor(
    private readonly folder: string,
    readonly url: string,
    readonly adminUrl: string,
  ) {}

  static async find(dataDir: string): Promise<TradingStage> {
    const folder = path.resolve(dataDir);
    const { execution_url: url, practice } = await read(folder);
    return new TradingStage(folder, url, practice.admin_url);
  }

  async keyOf(trader: string): Promise<ApiKey> {
    const { demo } = await read(this.folder);
    const user = demo.users.find(({ email }) => email.startsWith(`${trader}@`));
    const key = user?.api_keys?.find(({ name }) => name === 'trading');
    if (key === undefined) throw new StartFault(`the cluster in ${this.folder} has no key of ${trader}`);
    return key;
  }

  /** Kills the process, as a power cut would. The launcher restarts it. */
  async kill(process_: string): Promise<void> {
    const { processes } = await read(this.folder);
    const found = processes.find(({ name }) => name === process_);
    if (found === undefined) throw new StartFault(`the cluster in ${this.folder} has no ${process_}`);
    process.kill(found.pid, 'SIGKILL');
  }

  /** Opens a market of the practice venue that no bot quotes. */
  async openMarket(title: string): Promise<string> {
    const response = await fetch(`${this.adminUrl}/markets`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ exchange_id: 'venue_b', title, tick_size: '0.01' }),
    });
    const opened = z.object({ market_id: z.string() }).safeParse(await response.json());
    if (!opened.success) throw new StartFault('the practice venue did not open a market');
    return opened.data.market_id;
  }
}

async function read(folder: string): Promise<z.output<typeof clusterFile>> {
  const text = await readFile(path.join(folder, 'cluster.json'), 'utf8').catch(() => undefined);
  const cluster = clusterFile.safeParse(text === undefined ? undefined : JSON.parse(text));
  if (cluster.success) return cluster.data;
  throw new StartFault(
    `no cluster that executes orders is running in ${folder}: start one with \`npm start\``,
  );
}
