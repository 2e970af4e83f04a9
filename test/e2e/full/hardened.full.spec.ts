import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { RunningCluster } from '#libs/testing/cluster/running-cluster.js';
import { blocksOf, textOf } from '../../docs/markdown.js';
import { paste, stepsOf } from '../../docs/pasting.js';
import { plainFloor, type TradingFloor } from '../trading-floor.js';

/** Each writes or locks with its own login. */
const PROCESSES = [
  'owner-1',
  'gateway-0',
  'settler',
  'projector',
  'cell-0',
  'signer',
  'executor',
  'execution-0',
  'ingest-0',
  'data-0',
];

let floor: TradingFloor;

beforeAll(async () => {
  floor = await plainFloor({ SERVICES: 'auction,execution,data' });
}, 90_000);

afterAll(() => floor.end());

/** The statements under "Bounds for each login". */
function statements(): readonly string[] {
  const [, section = ''] = /^## Bounds for each login\n([^]*?)^## /m.exec(
    textOf('docs/operate/hardening.md'),
  ) ?? [''];
  return blocksOf(section).flatMap(({ language, text }) => (language === 'sql' ? [text] : []));
}

async function apply(cluster: RunningCluster, blocks: readonly string[]): Promise<void> {
  const file = path.join(cluster.dataDir, 'postgres', 'credentials.json');
  const url = new URL(cluster.file.database_url);
  url.username = 'postgres';
  url.password = (JSON.parse(readFileSync(file, 'utf8')) as { readonly superuser: string }).superuser;
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  try {
    for (const block of blocks) await admin.query(block);
  } finally {
    await admin.end();
  }
}

describe('a database with the settings of docs/operate/hardening.md', () => {
  it('lets every process start again and do its work', async () => {
    const { cluster } = floor;
    const blocks = statements();
    expect(blocks).toHaveLength(3);
    await apply(cluster, blocks);
    const names = new Set(cluster.file.processes.map(({ name }) => name));
    expect(PROCESSES.filter((name) => !names.has(name))).toEqual([]);
    const killed = PROCESSES.map((name) => [name, cluster.kill(name)] as const);
    await Promise.all(killed.map(([name, pid]) => cluster.restartOf(name, pid)));
    const steps = stepsOf(textOf('README.md'));
    const outputs = await paste(steps, {
      SOTTO: cluster.gatewayUrl,
      OPEN_MS: '3000',
      CLUSTER: path.join(cluster.dataDir, 'cluster.json'),
    });
    for (const [index, { prints }] of steps.entries()) {
      if (prints !== undefined) expect(outputs[index]).toBe(prints);
    }
    expect(cluster.logTails()).not.toContain('permission denied for function');
  }, 120_000);
});
