import { DataRebuild } from '#libs/data/ingest/rebuild.js';
import { PROVIDERS } from '#libs/data/rules/providers.js';
import { PostgresStore } from '#libs/journal/stores/postgres-store.js';
import { openPool } from '#libs/platform/database/postgres.js';
import type { CommandArea } from '#libs/platform/terminal/commands.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { openDatabase } from './open-database.js';
import { program } from './program.js';

const DATA = {
  name: 'data',
  commands: [
    {
      name: 'rebuild',
      operands: [],
      options: {},
      summary: 'rebuilds the tables of market data from their journals and swaps them in',
      explanation: ['Readers and ingest keep running. The last line gives the number of events.'],
    },
  ],
  notes: [
    'Uses the database of DATABASE_URL, else that of the cluster in DATA_DIR (.data), and starts it for this call where no cluster runs.',
  ],
} as const satisfies CommandArea;
const POOL = 4;

export const data = program(DATA, async (_call, { environment }) => {
  const database = await openDatabase(environment, tell);
  const pool = openPool(database.url, { applicationName: 'data', max: POOL });
  try {
    const clock = new SystemClock();
    const shards = [...PROVIDERS.keys(), PROVIDERS.length];
    const store = new PostgresStore({
      family: 'data',
      databaseUrl: database.url,
      pool,
      clock,
      shards,
      instance: 'data',
      tell,
    });
    const events = await new DataRebuild({ pool, reader: store.reader, clock, say: tell }).run();
    print(JSON.stringify({ rebuilt: true, events }));
    return 0;
  } finally {
    await pool.end();
    await database.close();
  }
});

function tell(line: string): void {
  mention(`data: ${line}`);
}
