import {
  type CommandArea,
  type GivenOptions,
  type OptionTable,
  OUTPUT_OPTION,
  UsageFault,
} from '#libs/platform/terminal/commands.js';
import { kafkaSettings, type KafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import type { JournalStore } from '#libs/journal/stores/journal-store.js';
import { openJournalStore } from '#libs/journal/stores/open-journal-store.js';
import { SHARDS } from '#libs/auction/protocol/routing.js';
import { loadConfig } from '#libs/platform/settings/config.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { openDatabase } from './open-database.js';
import { refuseAnotherKafka } from '#libs/auction/proof/place.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { program } from './program.js';
import { type CommandOptions, type ProjectionCommand, runProjectionCommand } from './projection/commands.js';

const OPTIONS = {
  shard: { type: 'string', value: 'n', text: 'only this shard' },
  ...OUTPUT_OPTION,
} as const satisfies OptionTable;
const PROJECTION = {
  name: 'projection',
  commands: [
    {
      name: 'lag',
      operands: [],
      options: OPTIONS,
      summary: 'how far the projections are behind the journals',
    },
    {
      name: 'compare',
      operands: [],
      options: OPTIONS,
      summary: 'makes the projections again from the journals, aside, and compares them with those in use',
      explanation: ['Byte for byte. Changes nothing, and exits with 1 when anything differs.'],
    },
    {
      name: 'rebuild',
      operands: [],
      options: OPTIONS,
      summary: 'makes the projections anew from the journals and puts them in the place of those in use',
      explanation: ['Readers and projectors go on meanwhile.'],
    },
  ],
  notes: [
    'The database is that of DATABASE_URL, else that of the cluster on DATA_DIR (.data), which is started for the time where no cluster runs;',
    "journals in Kafka are found by the same KAFKA_* settings as the cluster's.",
  ],
} as const satisfies CommandArea;
const POOL = 6;

interface ProjectionCall extends CommandOptions {
  readonly command: ProjectionCommand;
}

export const projection = program(PROJECTION, async ({ command, options, json }, { environment }) => {
  const call = { command: command.name, json, ...shardIn(options) };
  const settings = loadConfig(kafkaSettings, environment, [kafkaSettingsAgree]);
  const database = await openDatabase(environment, tell);
  try {
    return await run(call, database.url, settings);
  } finally {
    await database.close();
  }
});

function tell(line: string): void {
  mention(`projection: ${line}`);
}

function shardIn(options: GivenOptions): { readonly shard?: number } {
  const text = options.text('shard');
  if (text === undefined) return {};
  if (!/^\d$/.test(text)) throw new UsageFault('a shard is a number such as 0');
  if (Number(text) >= SHARDS) throw new UsageFault(`there is no shard ${text}`);
  return { shard: Number(text) };
}

async function run(call: ProjectionCall, url: string, settings: KafkaSettings): Promise<number> {
  const clock = new SystemClock();
  const pool = openPool(url, { applicationName: 'projection', max: POOL });
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
  let store: JournalStore | undefined;
  try {
    store = await openJournalStore(settings, {
      family: 'auction',
      databaseUrl: url,
      pool,
      clock,
      instance: 'projection',
      shards,
      tell,
    });
    await refuseAnotherKafka(store, pool, 'auction');
    const ports = { pool, reader: store.reader, clock };
    return await runProjectionCommand(call.command, call, ports, print);
  } finally {
    await store?.close();
    await pool.end();
  }
}
