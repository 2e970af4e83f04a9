import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { KafkaJournal } from '#libs/journal/kafka/kafka-journal.js';
import { KafkaJournalReader } from '#libs/journal/kafka/kafka-reader.js';
import { KafkajsTopics } from '#libs/journal/kafka/kafkajs/kafkajs-topics.js';
import type { JournalWriter } from '#libs/journal/journal.js';
import { EmbeddedKafka } from '#libs/platform/embedded-kafka/embedded-kafka.js';
import { kafkaJars, missingForKafka, type JarPlaces } from '#libs/platform/embedded-kafka/jars.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';

const CACHE = 'node_modules/.cache/sotto-kafka';
const POMS = { broker: 'deploy/kafka/pom.xml', tools: 'deploy/kafka/tools-pom.xml' };
const PREFIX = 'bench.journal.';
const TOOL = 'org.apache.kafka.tools.ProducerPerformance';
/** Share of the records that the tool sends before it measures. */
const WARM_UP = 0.25;
const RATE = /, ([\d.]+) records\/sec/g;

export interface PerfRun {
  readonly records: number;
  readonly recordBytes: number;
  /** 0 for one record per request. */
  readonly batchBytes: number;
}

/** Brokers for one benchmark, as durable as those of a deployment. */
export class BenchKafka {
  private readonly topics: KafkajsTopics;
  private readonly clock = new SystemClock();

  private constructor(
    private readonly kafka: EmbeddedKafka,
    private readonly folder: string,
    private readonly tools: string,
  ) {
    this.topics = new KafkajsTopics(
      { brokers: this.addresses, clientId: 'bench' },
      { prefix: PREFIX, family: 'auction' },
      this.clock,
    );
  }

  static async start(brokers: 1 | 3): Promise<BenchKafka> {
    const places = placesOf(POMS.broker);
    const tools = placesOf(POMS.tools);
    const missing = missingForKafka(places) ?? missingForKafka(tools);
    if (missing !== undefined) throw new Error(`Kafka cannot be measured here: ${missing}`);
    const folder = await mkdtemp(path.join(tmpdir(), 'sotto-bench-kafka-'));
    const jars = await kafkaJars(tools);
    return new BenchKafka(await EmbeddedKafka.start({ folder, brokers, ...places }), folder, jars);
  }

  get addresses(): string[] {
    return this.kafka.addresses;
  }

  async writer(shard: number): Promise<JournalWriter> {
    const journal = new KafkaJournal({
      family: 'auction',
      openLog: (wanted) => this.topics.prepare(wanted),
      clock: this.clock,
      opener: 'bench',
      sealing: {
        seals: new RecordMacs('auction', [Buffer.alloc(32)]),
        sealedFrom: () => Promise.resolve(undefined),
      },
    });
    return await journal.open(shard);
  }

  reader(): KafkaJournalReader {
    return new KafkaJournalReader({
      family: 'auction',
      openLog: (shard) => this.topics.open(shard),
      shards: [],
    });
  }

  /**
   * Records per second of Kafka's own producer, one request in flight, into a topic with the settings of a
   * journal.
   */
  async producerTool(shard: number, { records, recordBytes, batchBytes }: PerfRun): Promise<number> {
    await (await this.topics.prepare(shard)).close();
    const properties = [
      'acks=all',
      'enable.idempotence=false',
      'max.in.flight.requests.per.connection=1',
      `batch.size=${batchBytes}`,
      ...(batchBytes === 0 ? ['linger.ms=0'] : []),
    ];
    const args = {
      '--bootstrap-server': this.addresses.join(','),
      '--topic': this.topics.nameOf(shard),
      '--num-records': String(records),
      '--warmup-records': String(Math.round(records * WARM_UP)),
      '--record-size': String(recordBytes),
      '--throughput': '-1',
    };
    const java = ['-Xmx256m', '-cp', path.join(this.tools, '*'), TOOL, ...Object.entries(args).flat()];
    java.push('--command-property', ...properties);
    const tool = spawn('java', java, { stdio: ['ignore', 'pipe', 'ignore'] });
    const [output, [code]] = await Promise.all([text(tool.stdout), once(tool, 'exit') as Promise<[number]>]);
    // The last line covers the whole run.
    const [, rate] = [...output.matchAll(RATE)].at(-1) ?? [];
    if (code !== 0 || rate === undefined) throw new Error(`the producer tool failed: ${output}`);
    return Number(rate);
  }

  async stop(): Promise<void> {
    for (const broker of this.kafka.brokers) broker.signal('SIGKILL');
    await this.kafka.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function placesOf(pom: string): JarPlaces {
  return { cacheFolder: path.resolve(CACHE), pom: path.resolve(pom) };
}
