import { appendFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { RunningCluster } from '#libs/testing/cluster/running-cluster.js';
import { eventually } from '#libs/testing/eventually.js';

const told = z.object({
  providers: z.array(
    z.object({
      provider: z.string(),
      state: z.string(),
      journal_head: z.number(),
      applied: z.number(),
      lag_events: z.number(),
      conflicts: z.number(),
      alarms: z.array(z.object({ kind: z.string() })),
    }),
  ),
  recorded: z.array(
    z.object({
      file: z.string(),
      lines: z.number(),
      applied_lines: z.number(),
      refused_count: z.number(),
      refused: z.array(z.object({ line: z.number(), reason: z.string() })),
    }),
  ),
});

export type ToldOfIngest = z.infer<typeof told>;
type ToldOfFile = ToldOfIngest['recorded'][number];

const candles = z.object({
  candles: z.array(z.object({ bucket_start: z.string(), volume: z.number(), close: z.number() })),
});
type HourlyCandle = z.infer<typeof candles>['candles'][number];

/** A cluster that reads recorded files, as operators and readers see it. */
export class RecordedFloor {
  private readonly folder: string;

  constructor(readonly cluster: RunningCluster) {
    this.folder = path.join(cluster.dataDir, 'recorded');
    mkdirSync(this.folder, { recursive: true });
  }

  append(file: string, ...lines: readonly (object | string)[]): void {
    const text = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
    appendFileSync(path.join(this.folder, file), text);
  }

  async ingest(): Promise<ToldOfIngest> {
    return told.parse(await this.ask('/admin/ingest'));
  }

  /** Waits until this many lines of a file are applied. */
  async applied(file: string, lines: number, withinMs?: number): Promise<ToldOfFile> {
    return await eventually(async () => {
      const found = (await this.ingest()).recorded.find((each) => each.file === file);
      if (found?.applied_lines !== lines || found.lines !== lines)
        throw new Error(`${file}: ${JSON.stringify(found)} instead of ${lines} lines`);
      return found;
    }, withinMs);
  }

  async provider(name: string): Promise<ToldOfIngest['providers'][number]> {
    const found = (await this.ingest()).providers.find(({ provider }) => provider === name);
    if (found === undefined) throw new Error(`there is no status of ${name}`);
    return found;
  }

  async candles(provider: string, market: string, day: string): Promise<readonly HourlyCandle[]> {
    const window = `start=${day}T00:00:00Z&end=${day}T23:59:59Z&timeframe_seconds=3600`;
    const body = await this.ask(`/candles?provider=${provider}&contract_id=${market}&${window}`);
    return candles.parse(body).candles;
  }

  /** The sum over all candles of yesterday. */
  async volume(provider: string, market: string): Promise<number> {
    const all = await this.candles(provider, market, YESTERDAY);
    return all.reduce((sum, { volume }) => sum + volume, 0);
  }

  private async ask(at: string): Promise<unknown> {
    const { data_url: url = '', demo } = this.cluster.file;
    const headers = { 'x-admin-secret': demo.admin_secret ?? '' };
    const answer = await fetch(`${url}${at}`, { headers, signal: AbortSignal.timeout(5_000) });
    if (!answer.ok) throw new Error(`${at}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}

/** Today is never complete, while every hour of yesterday is over. */
export const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

export function marketLine(provider: string, market: string): object {
  return {
    ...{ type: 'MARKET', provider, source_id: `${market}@1`, source_ts: '2026-01-01T00:00:00Z' },
    ...{ market_id: market, name: `Will ${market}?`, listed_at: '2026-01-01T00:00:00Z' },
    outcomes: [{ label: 'Yes' }, { label: 'No' }],
  };
}

/** The `nth` trade of a market, one a second. */
export function tradeLine(provider: string, market: string, nth: number, price = '0.5'): object {
  const at = new Date(Date.parse(`${YESTERDAY}T00:00:00Z`) + nth * 1_000).toISOString();
  return {
    ...{ type: 'TRADE', provider, source_id: `${market}-${nth}`, source_ts: at, market_id: market },
    ...{ outcome_index: 0, price, size: '1', side: 'buy' },
  };
}
