import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ORDERS_ALONE, type Ground } from '../ground/ground.js';
import { fillCellJournal } from '../ground/filled-cell.js';
import { comebackOf, type Comeback } from '../ground/comeback.js';
import { atMost, type RowOutcome, type Row, type Settings } from '../row.js';
import { median } from '../statistics.js';

const EVENTS = 100_000;
const FEW = 1_000;
const CELL = 'cell-0';
/** So that every event is read from the journal. */
const NO_SNAPSHOT = { SNAPSHOT_EVERY_EVENTS: '100000000' };

/** The time until a killed cell is ready again after reading every event of its journal. */
export const cellRecovery: Row = {
  name: 'cell-recovery',
  title: 'Recovery of a cell from 100,000 events, without a snapshot',
  async run(ground: Ground, { runs, quick, say }: Settings): Promise<RowOutcome> {
    const cluster = await ground.cluster({ ...ORDERS_ALONE, ...NO_SNAPSHOT });
    await fillCellJournal(cluster, quick ? FEW : EVENTS);
    const comebacks: Comeback[] = [];
    for (let run = 1; run <= runs; run += 1) {
      comebacks.push(await comebackOf(cluster, CELL));
      say(`run ${run} of ${runs}: ${JSON.stringify(comebacks.at(-1))}`);
      // By then the other processes have noticed.
      await sleep(1_000);
    }
    const log = readFileSync(`${cluster.dataDir}/logs/${CELL}.log`, 'utf8');
    const recovered = log.split('\n').filter((line) => line.includes('"recovered"'));
    await cluster.stop();
    const bounds = { minimum: 2, goal: 2 };
    return {
      checks: [
        atMost(
          'ready, from process start',
          's',
          median(comebacks.map(({ sinceStart }) => sinceStart)),
          bounds,
        ),
        atMost('ready, from kill -9', 's', median(comebacks.map(({ sinceKill }) => sinceKill)), {
          minimum: 3,
          goal: 2,
        }),
      ],
      details: { comebacks, last: recovered.at(-1) },
    };
  },
};
