import path from 'node:path';
import { parseCommandLine } from '#libs/platform/terminal/command-line.js';
import { EmbeddedKafka } from '#libs/platform/embedded-kafka/embedded-kafka.js';
import { missingForKafka } from '#libs/platform/embedded-kafka/jars.js';
import { heedNpm } from '#libs/platform/supervision/npm-parent.js';
import { asStartFault, EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { watchBrokers } from './kafka/broker-watch.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';

const USAGE = `Usage: npm run kafka -- [--brokers 1|3] [--folder .data/kafka]

Starts Apache Kafka on this machine's loopback, waits until it can be used and prints its address. Ctrl-C stops it; its data
stay in the folder. A broker that ends, or is killed to see what happens, is started again after a while. It needs Java 17 and
Maven, which fetches the jars that deploy/kafka/pom.xml names.

  KAFKA_BROKERS=<address> npm start    runs the product on it`;

const EXIT_USAGE = 64;
const STAY_MILLIS = 60_000;
const clock = new SystemClock();

interface Call {
  readonly brokers: number;
  readonly folder: string;
}

async function main(args: readonly string[]): Promise<number> {
  const call = callOf(args);
  if (typeof call === 'number') return call;
  if (call === undefined) {
    print(USAGE);
    return 0;
  }
  const places = {
    cacheFolder: path.resolve('node_modules/.cache/sotto-kafka'),
    pom: path.resolve('deploy/kafka/pom.xml'),
  };
  const missing = missingForKafka(places);
  if (missing !== undefined) throw new StartFault(missing, EXIT.unavailable);
  print('starting Kafka; the first time its jars are fetched');
  const stopping = new AbortController();
  heedEnds(() => stopping.abort());
  const kafka = await EmbeddedKafka.start({
    folder: path.resolve(call.folder),
    brokers: call.brokers,
    signal: stopping.signal,
    ...places,
  }).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
    return undefined;
  });
  return kafka === undefined ? 0 : await run(kafka, stopping.signal);
}

/** Until it is told to stop. */
async function run(kafka: EmbeddedKafka, stopping: AbortSignal): Promise<number> {
  for (const { place, pid } of kafka.brokers) {
    print(`broker ${place.id}: ${place.host}:${place.port}, process ${pid}`);
  }
  print(`ready: KAFKA_BROKERS=${kafka.addresses.join(',')}`);
  try {
    await watchBrokers(kafka.brokers, { clock, stopping, say: print });
    if (!stopping.aborted) throw new StartFault('no broker is left');
    print('stopping');
    return 0;
  } finally {
    await kafka.stop();
  }
}

function heedEnds(stop: () => void): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop);
  heedNpm('kafka', process.env, clock, stop);
}

/** What is asked for, undefined for help, or the code to exit with. */
function callOf(args: readonly string[]): Call | number | undefined {
  try {
    const { values } = parseCommandLine({
      args: [...args],
      options: {
        brokers: { type: 'string', default: '1' },
        folder: { type: 'string', default: '.data/kafka' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) return undefined;
    if (!/^[13]$/.test(values.brokers)) throw new Error('there can be 1 broker or 3');
    if (values.folder === '') throw new Error('--folder has no name');
    return { brokers: Number(values.brokers), folder: values.folder };
  } catch (error) {
    mention(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return EXIT_USAGE;
  }
}

// The clock's timers do not hold a process; between a broker's end and its next start nothing else would.
const stay = setInterval(() => undefined, STAY_MILLIS);
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const fault = asStartFault(error);
  if (fault === undefined) throw error;
  mention(`kafka: ${fault.message}`);
  process.exitCode = fault.exitCode;
} finally {
  clearInterval(stay);
}
