import { parseCommandLine } from '#libs/platform/terminal/command-line.js';
import { kafkaSettings, kafkaSettingsAgree, type KafkaSettings } from '#libs/journal/kafka/kafka-settings.js';
import type { JournalStore } from '#libs/journal/stores/journal-store.js';
import { openJournalStore } from '#libs/journal/stores/open-journal-store.js';
import { SHARDS } from '#libs/auction/protocol/routing.js';
import { loadConfig, type Environment } from '#libs/platform/settings/config.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { openDatabase } from './open-database.js';
import { refuseAnotherKafka } from '#libs/auction/proof/refuse-another-kafka.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { tellFault } from '#libs/platform/terminal/tool-faults.js';
import { asToolFault } from './tool-fault.js';
import { runProjectionCommand, type ProjectionCommand } from './projection/commands.js';

const USAGE = `Usage: npm run projection -- <command> [--shard n] [--output json]

  lag       how far the projections are behind the journals
  compare   makes the projections again from the journals, aside, and compares them byte for byte with
            those in use; changes nothing, and exits with 1 when anything differs
  rebuild   makes the projections anew from the journals and puts them in the place of those in use;
            readers and projectors go on meanwhile

  --shard n       only this shard
  --output json   one JSON document instead of text; so is a fault, as the last line on standard error
  --help          this text

The database is that of DATABASE_URL, else that of the cluster on DATA_DIR (.data), which is started for the
time where no cluster runs; journals in Kafka are found by the same KAFKA_* settings as the cluster's.`;

const COMMANDS: readonly string[] = ['lag', 'compare', 'rebuild'] satisfies ProjectionCommand[];
const EXIT_USAGE = 64;
const POOL = 6;
const STAY_MS = 60_000;

interface Call {
  readonly command: ProjectionCommand;
  readonly shard?: number;
  readonly json: boolean;
}

async function main(args: readonly string[], environment: Environment): Promise<number> {
  const call = callOf(args);
  if (typeof call === 'string') {
    if (call !== '') {
      tellFault('projection', args, { message: call, help: USAGE });
      return EXIT_USAGE;
    }
    print(USAGE);
    return 0;
  }
  const settings = loadConfig(kafkaSettings, environment, [kafkaSettingsAgree]);
  const database = await openDatabase(environment, tell);
  try {
    return await run(call, database.url, settings);
  } finally {
    await database.close();
  }
}

function tell(line: string): void {
  mention(`projection: ${line}`);
}

async function run(call: Call, url: string, settings: KafkaSettings): Promise<number> {
  const clock = new SystemClock();
  const pool = openPool(url, { applicationName: 'projection', max: POOL });
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
  // The clock's timers do not hold a process; this one waits on purpose.
  const stay = setInterval(() => undefined, STAY_MS);
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
    clearInterval(stay);
    await pool.end();
  }
}

/** What is asked for; what is wrong with it; or nothing but help. */
function callOf(args: readonly string[]): Call | string {
  try {
    const { values, positionals } = parseCommandLine({
      args: [...args],
      allowPositionals: true,
      options: {
        shard: { type: 'string' },
        output: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) return '';
    const [command, ...more] = positionals;
    if (!isCommand(command) || more.length > 0) return `expected one of ${COMMANDS.join(', ')}`;
    if (values.output !== undefined && values.output !== 'json') return 'the only other output is json';
    if (values.shard !== undefined && !/^\d$/.test(values.shard)) return 'a shard is a number such as 0';
    if (values.shard !== undefined && Number(values.shard) >= SHARDS)
      return `there is no shard ${values.shard}`;
    const shard = values.shard === undefined ? {} : { shard: Number(values.shard) };
    return { command, json: values.output === 'json', ...shard };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function isCommand(name: string | undefined): name is ProjectionCommand {
  return name !== undefined && COMMANDS.includes(name);
}

const args = process.argv.slice(2);
try {
  process.exitCode = await main(args, process.env);
} catch (error) {
  const fault = asToolFault(error);
  if (fault === undefined) throw error;
  tellFault('projection', args, fault);
  process.exitCode = fault.exitCode;
}
