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
  /** Of every broker. */
  readonly addresses: readonly string[];
  /** So that suites that share brokers do not meet. */
  readonly prefix: string;
  /** Brokers of the suite's own, to be paused and killed; undefined where others use them too. */
  readonly own: EmbeddedKafka | undefined;
}

export interface WantedKafka {
  /**
   * Those of KAFKA_BROKERS will do, or a broker that all such suites share: nothing is done to them but reading and writing.
   */
  readonly anyBrokers?: boolean;
  /** None where the suite starts its own: then it only has to be possible. */
  readonly brokers?: 0 | 1 | 3;
  readonly settings?: KafkaOptions['settings'];
}

/** A suite against real brokers. Where there can be none it says so; with REQUIRE_KAFKA it fails instead, unless that is 0 or false. */
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

/** Set to nothing they are not set, as where a shell writes `KAFKA_BROKERS=$ADDRESS` and there is none. */
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
      `\n!!! ${name}: skipped, for there is no Kafka. ${missing}; set KAFKA_BROKERS or install it.\n\n`,
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
