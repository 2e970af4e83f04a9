import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EmbeddedKafka } from '../../platform/embedded-kafka/embedded-kafka.js';
import { missingForKafka } from '../../platform/embedded-kafka/jars.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** Brokers for one suite, thrown away with it. */
export interface TestKafka {
  readonly kafka: EmbeddedKafka;
  stop(): Promise<void>;
}

/** Why no suite can have brokers here; undefined when they can. In CI they must. */
export function whyNoKafka(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const missing = missingForKafka();
  if (missing !== undefined && environment.REQUIRE_KAFKA === '1') {
    throw new Error(`REQUIRE_KAFKA=1 and ${missing}`);
  }
  return missing;
}

export async function startTestKafka(brokers: number): Promise<TestKafka> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sotto-kafka-'));
  const kafka = await EmbeddedKafka.start({
    folder,
    brokers,
    cacheFolder: path.join(ROOT, 'node_modules/.cache/sotto-kafka'),
    pom: path.join(ROOT, 'deploy/kafka/pom.xml'),
  });
  return {
    kafka,
    stop: async () => {
      await kafka.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
