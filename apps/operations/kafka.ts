import path from 'node:path';
import { parseArgs } from 'node:util';
import { EmbeddedKafka } from '#libs/platform/embedded-kafka/embedded-kafka.js';
import { missingForKafka } from '#libs/platform/embedded-kafka/jars.js';
import { asStartFault, EXIT, StartFault } from '#libs/platform/start-fault.js';

const USAGE = `Usage: npm run kafka -- [--brokers 1|3] [--folder .data/kafka]

Starts Apache Kafka on this machine's loopback, waits until it can be used and prints its address. Ctrl-C stops it; its data
stay in the folder. It needs Java 17 and Maven, which fetches the jars that deploy/kafka/pom.xml names.

  KAFKA_BROKERS=<address> npm start    runs the product on it`;

const EXIT_USAGE = 64;

interface Call {
  readonly brokers: number;
  readonly folder: string;
}

async function main(args: readonly string[]): Promise<number> {
  const call = callOf(args);
  if (typeof call === 'number') return call;
  const places = {
    cacheFolder: path.resolve('node_modules/.cache/sotto-kafka'),
    pom: path.resolve('deploy/kafka/pom.xml'),
  };
  const missing = missingForKafka(places);
  if (missing !== undefined) throw new StartFault(missing, EXIT.unavailable);
  console.log('starting Kafka; the first time its jars are fetched');
  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    stopping.signal.addEventListener('abort', () => resolve());
  });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stopping.abort());
  const kafka = await EmbeddedKafka.start({
    folder: path.resolve(call.folder),
    brokers: call.brokers,
    signal: stopping.signal,
    ...places,
  }).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
    return undefined;
  });
  if (kafka === undefined) return 0;
  console.log(`ready: KAFKA_BROKERS=${kafka.addresses.join(',')}`);
  const fallen = kafka.brokers.map((broker) => broker.gone().then(() => broker));
  const broker = await Promise.race([stopped, ...fallen]);
  const words = await broker?.lastWords();
  console.log('stopping');
  await kafka.stop();
  if (broker === undefined) return 0;
  throw new StartFault(`broker ${broker.place.id} has ended: ${words} (see ${broker.logFile})`);
}

/** What is asked for, or the code to exit with. */
function callOf(args: readonly string[]): Call | number {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        brokers: { type: 'string', default: '1' },
        folder: { type: 'string', default: '.data/kafka' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) {
      console.log(USAGE);
      return 0;
    }
    if (!/^[13]$/.test(values.brokers)) throw new Error('there can be 1 broker or 3');
    return { brokers: Number(values.brokers), folder: values.folder };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return EXIT_USAGE;
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const fault = asStartFault(error);
  if (fault === undefined) throw error;
  console.error(`kafka: ${fault.message}`);
  process.exitCode = fault.exitCode;
}
