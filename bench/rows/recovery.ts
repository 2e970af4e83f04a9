import { readFileSync } from 'node:fs';
import { comebackOf, type Comeback } from '../ground/comeback.js';
import type { Ground } from '../ground/ground.js';
import { seedCluster } from '../ground/seeding.js';
import { atMost, type RowOutcome, type Row, type Settings } from '../row.js';
import { median } from '../statistics.js';

/** Over three shards: 10,000 auctions and 100,000 events on each. */
const OPEN = 30_000;
const FEW = 30;
const QUOTES = 9;
const OWNER = 'owner-0';

/** The time until a killed owner with many auctions is ready again. */
export const recovery: Row = {
  name: 'recovery',
  title: 'Recovery of a shard with 10,000 open auctions and 100,000 events',
  async run(ground: Ground, { runs, quick, say }: Settings): Promise<RowOutcome> {
    const cluster = await ground.cluster({});
    const open = String(quick ? FEW : OPEN);
    await seedCluster(cluster.dataDir, ['--open', open, '--quotes', String(QUOTES), '--audience', '10']);
    const comebacks: Comeback[] = [];
    for (let run = 1; run <= runs; run += 1) {
      comebacks.push(await comebackOf(cluster, OWNER));
      say(`run ${run} of ${runs}: ${JSON.stringify(comebacks.at(-1))}`);
    }
    const log = readFileSync(`${cluster.dataDir}/logs/${OWNER}.log`, 'utf8');
    const recovered = log.split('\n').filter((line) => line.includes('"recovered"'));
    await cluster.stop();
    return {
      checks: [
        atMost('ready, from process start', 's', median(comebacks.map(({ sinceStart }) => sinceStart)), {
          minimum: 2,
          goal: 1,
        }),
        atMost('ready, from kill -9', 's', median(comebacks.map(({ sinceKill }) => sinceKill)), {
          minimum: 3,
          goal: 2,
        }),
      ],
      details: { comebacks, last: recovered.at(-1) },
    };
  },
};
