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
      summary: 'shows how far the projections lag the journals',
    },
    {
      name: 'compare',
      operands: [],
      options: OPTIONS,
      summary: 'builds the projections from the journals in a copy, and compares it with those in use',
      explanation: ['Byte for byte. Changes nothing, and exits with 1 when anything differs.'],
    },
    {
      name: 'rebuild',
      operands: [],
      options: OPTIONS,
      summary: 'rebuilds the projections from the journals and swaps them in',
      explanation: ['Readers and projectors keep running.'],
    },
  ],
  notes: [
    'Uses the database of DATABASE_URL, else that of the cluster in DATA_DIR (.data), and starts it for this call where no cluster runs.',
    'Journals in Kafka need the KAFKA_* settings of the cluster.',
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
