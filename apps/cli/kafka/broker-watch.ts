import type { Broker } from '#libs/platform/embedded-kafka/broker.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';

/** Long enough to see what the product does without the broker, its topics' change of leaders included. */
const AGAIN_MILLIS = 15_000;
const MOST_STARTS = 5;

export interface BrokerWatchPorts {
  readonly clock: Clock;
  readonly say: (line: string) => void;
  /** Aborted when all brokers are to be stopped. */
  readonly stopping: AbortSignal;
}

/**
 * Starts a broker again that has ended, by itself or killed; the others go on meanwhile. Resolves when asked to stop, with
 * no start under way, or when the last broker has ended too often.
 */
export async function watchBrokers(brokers: readonly Broker[], ports: BrokerWatchPorts): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    ports.stopping.addEventListener('abort', () => resolve());
  });
  await Promise.all(brokers.map((broker) => watch(broker, stopped, ports)));
}

async function watch(
  broker: Broker,
  stopped: Promise<void>,
  { clock, say, stopping }: BrokerWatchPorts,
): Promise<void> {
  const name = `broker ${broker.place.id}`;
  const hasStopped = (): boolean => stopping.aborted;
  for (let starts = 0; ; starts += 1) {
    await Promise.race([broker.gone(), stopped]);
    if (hasStopped()) return;
    const how = await howEnded(broker);
    if (starts === MOST_STARTS) {
      say(
        `${name} has ended for the ${MOST_STARTS + 1}th time (${how}) and is left so; its log is ${broker.logFile}`,
      );
      return;
    }
    say(`${name} has ended (${how}): it is started again in ${AGAIN_MILLIS / 1_000} s`);
    await Promise.race([pause(clock, AGAIN_MILLIS), stopped]);
    if (hasStopped()) return;
    await broker.start();
    say(`${name} is started again, as process ${broker.pid}`);
  }
}

/** The operator knows why a broker was killed; of one that gave up its last words say more. */
async function howEnded(broker: Broker): Promise<string> {
  const { killedBy } = broker;
  return killedBy ?? `${broker.ending}: ${await broker.lastWords()}`;
}
