/**
 * An owner's journal in its own process, to be paused and killed. Appends one batch after another until it is
 * deposed; each line of output is what it knows. Usage: node writer-process.mjs <brokers> <prefix> <shard>
 * <name> <records a batch> <pause in ms>
 */
import { setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { KafkaJournal } from '../../dist/libs/journal/kafka/kafka-journal.js';
import { KafkajsTopics } from '../../dist/libs/journal/kafka/kafkajs/kafkajs-topics.js';
import { SystemClock } from '../../dist/libs/platform/time/system-clock.js';

const [brokers, prefix, shard, name, records, pause] = process.argv.slice(2);
const clock = new SystemClock();
const topics = new KafkajsTopics(
  { brokers: brokers.split(','), clientId: name },
  { prefix, family: 'auction' },
  clock,
);
const journal = new KafkaJournal({
  family: 'auction',
  openLog: (number) => topics.prepare(number),
  clock,
  opener: name,
  openWithinMillis: 60_000,
  settleWithinMillis: 60_000,
});

function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

// The clock's timers do not keep a process running.
setInterval(() => undefined, 60_000);
const writer = await journal.open(Number(shard));
say({ opened: writer.head.epoch });
for (let count = 1; ; count += 1) {
  const payloads = Array.from({ length: Number(records) }, (_, index) => `"${name}-${count}-${index}"`);
  try {
    await writer.append(payloads);
    say({ written: payloads });
  } catch (error) {
    say({ ended: error.name, message: error.message, payloads });
    process.exit(0);
  }
  if (Number(pause) > 0) await sleep(Number(pause));
}
