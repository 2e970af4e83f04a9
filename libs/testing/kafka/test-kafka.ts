import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { EmbeddedKafka, type KafkaOptions } from '../../platform/embedded-kafka/embedded-kafka.js';
import { missingForKafka } from '../../platform/embedded-kafka/jars.js';
import { sharedKafka } from './shared-kafka.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const NOT_REQUIRED: ReadonlySet<string> = new Set(['', '0', 'false']);
const START_WITHIN_MS = 240_000;

export const jarPlaces = {
  cacheFolder: path.join(ROOT, 'node_modules/.cache/sotto-kafka'),
  pom: path.join(ROOT, 'deploy/kafka/pom.xml'),
};

export interface TestKafka {
  /** The addresses of all brokers. */
  readonly addresses: readonly string[];
  /** Keeps suites apart that share brokers. */
  readonly prefix: string;
  /** The suite's own brokers, which it may pause and kill. Undefined if other suites use the brokers too. */
  readonly own: EmbeddedKafka | undefined;
}

export interface WantedKafka {
  /** Brokers from KAFKA_BROKERS suffice, or a broker that suites share. The suite only reads and writes. */
  readonly anyBrokers?: boolean;
  /** 0 if the suite starts brokers itself; then the check only has to find that it can. */
  readonly brokers?: 0 | 1 | 3;
  readonly settings?: KafkaOptions['settings'];
}

/**
 * A suite against real brokers. Without Kafka it is skipped with a message. With REQUIRE_KAFKA it fails instead, unless that is 0
 * or false.
 */
export function describeWithKafka(
  name: string,
  { anyBrokers = false, brokers = 1, settings }: WantedKafka,
  body: (kafka: () => TestKafka) => void,
): void {
  const given = anyBrokers ? brokersGiven() : undefined;
  const missing = given === undefined ? missingForKafka(jarPlaces) : undefined;
  if (missing !== undefined) {
    leaveOut(name, missing);
    return;
  }
  if (brokers === 0) {
    describe(name, () => body(noKafka));
    return;
  }
  describe(name, () => {
    let stop = (): Promise<void> => Promise.resolve();
    let kafka: TestKafka | undefined;
    beforeAll(async () => {
      const prefix = `test.${randomBytes(4).toString('hex')}.`;
      if (anyBrokers) {
        kafka = { addresses: given ?? (await sharedKafka()), prefix, own: undefined };
        return;
      }
      const folder = await mkdtemp(path.join(tmpdir(), 'sotto-kafka-'));
      stop = () => rm(folder, { recursive: true, force: true });
      const own = await EmbeddedKafka.start({
        folder,
        brokers,
        ...jarPlaces,
        ...(settings === undefined ? {} : { settings }),
      });
      stop = async () => {
        for (const broker of own.brokers) broker.signal('SIGKILL');
        await own.stop();
        await rm(folder, { recursive: true, force: true });
      };
      kafka = { addresses: own.addresses, prefix, own };
    }, START_WITHIN_MS);
    afterAll(() => stop());
    body(() => kafka ?? noKafka());
  });
}

function noKafka(): never {
  throw new Error('the brokers have not been started');
}

/** An empty value counts as unset, as when a shell sets `KAFKA_BROKERS=$ADDRESS` without an address. */
function brokersGiven(): string[] | undefined {
  const { KAFKA_BROKERS: text = '' } = process.env;
  return text.trim() === '' ? undefined : text.split(',');
}

function leaveOut(name: string, missing: string): void {
  const { REQUIRE_KAFKA: required = '' } = process.env;
  const isRequired = !NOT_REQUIRED.has(required.toLowerCase());
  const title = `${isRequired ? 'REQUIRED' : 'SKIPPED'}: ${missing}`;
  if (!isRequired) {
    process.stderr.write(
      `\n!!! ${name}: skipped, because there is no Kafka. ${missing}; set KAFKA_BROKERS or install it.\n\n`,
    );
  }
  describe(name, () => {
    if (!isRequired) it.skip(title, () => undefined);
    else {
      it(title, () => {
        throw new Error(`REQUIRE_KAFKA=${required}, but ${missing}`);
      });
    }
  });
}
