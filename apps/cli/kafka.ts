import path from 'node:path';
import {
  OUTPUT_OPTION,
  UsageFault,
  type CommandArea,
  type GivenOptions,
} from '#libs/platform/terminal/commands.js';
import type { Environment } from '#libs/platform/settings/config.js';
import { EmbeddedKafka } from '#libs/platform/embedded-kafka/embedded-kafka.js';
import { missingForKafka } from '#libs/platform/embedded-kafka/jars.js';
import { handleNpmEnd } from '#libs/platform/supervision/npm-parent.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { watchBrokers } from './kafka/broker-watch.js';
import { program } from './program.js';
import { print } from '#libs/platform/terminal/standard-output.js';

const KAFKA = {
  name: 'kafka',
  commands: [
    {
      name: '',
      operands: [],
      options: {
        brokers: { type: 'string', value: '1|3', default: '1', text: 'number of brokers' },
        folder: {
          type: 'string',
          value: 'path',
          default: '.data/kafka',
          text: 'where the brokers keep their data',
        },
        ...OUTPUT_OPTION,
      },
      summary: 'runs Apache Kafka on this machine',
      explanation: [
        "Starts Apache Kafka on this machine's loopback, waits until it is ready and prints its address. Ctrl-C stops it; its data",
        'stays in the folder. A broker that ends or is killed is started again after a while. Needs Java 17 and',
        'Maven, which fetches the jars of deploy/kafka/pom.xml. `KAFKA_BROKERS=<address> npm start` runs the product on it.',
      ],
    },
  ],
  notes: [],
} as const satisfies CommandArea;

const clock = new SystemClock();

export const kafka = program(KAFKA, async ({ options, json }, { environment }) => {
  const { brokers, folder } = callOf(options);
  const say: Say = json ? (line, facts) => print(JSON.stringify(facts ?? { note: line })) : print;
  const places = {
    cacheFolder: path.resolve('node_modules/.cache/sotto-kafka'),
    pom: path.resolve('deploy/kafka/pom.xml'),
  };
  const missing = missingForKafka(places);
  if (missing !== undefined) throw new StartFault(missing, EXIT.unavailable);
  say('starting Kafka; the first start downloads its jars');
  const stopping = new AbortController();
  handleEnds(environment, () => stopping.abort());
  const started = await EmbeddedKafka.start({
    folder: path.resolve(folder),
    brokers,
    signal: stopping.signal,
    ...places,
  }).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
    return undefined;
  });
  return started === undefined ? 0 : await run(started, stopping.signal, say);
});

/** Prints a line for people, or these facts as JSON for programs. */
type Say = (line: string, facts?: object) => void;

/** Runs until it is told to stop. */
async function run(started: EmbeddedKafka, stopping: AbortSignal, say: Say): Promise<number> {
  for (const { place, pid } of started.brokers) {
    say(`broker ${place.id}: ${place.host}:${place.port}, process ${pid}`, {
      broker: place.id,
      address: `${place.host}:${place.port}`,
      pid,
    });
  }
  say(`ready: KAFKA_BROKERS=${started.addresses.join(',')}`, {
    ready: true,
    kafka_brokers: started.addresses,
  });
  try {
    await watchBrokers(started.brokers, { clock, stopping, say });
    if (!stopping.aborted) throw new StartFault('no broker is left');
    say('stopping');
    return 0;
  } finally {
    await started.stop();
  }
}

/** The program may run under its own script name or as a part of `sotto`. */
function handleEnds(environment: Environment, stop: () => void): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop);
  const script = environment.npm_lifecycle_event === 'sotto' ? 'sotto' : 'kafka';
  handleNpmEnd(script, environment, clock, stop);
}

function callOf(options: GivenOptions): { readonly brokers: number; readonly folder: string } {
  const brokers = options.text('brokers') ?? '';
  const folder = options.text('folder') ?? '';
  if (!/^[13]$/.test(brokers)) throw new UsageFault('--brokers must be 1 or 3');
  if (folder === '') throw new UsageFault('--folder must not be empty');
  return { brokers: Number(brokers), folder };
}
