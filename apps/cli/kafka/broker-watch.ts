import type { Broker } from '#libs/platform/embedded-kafka/broker.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';

/** Long enough to watch the product without the broker, including new leaders of its topics. */
const RESTART_MILLIS = 15_000;
const MAX_RESTARTS = 5;

export interface BrokerWatchPorts {
  readonly clock: Clock;
  readonly say: (line: string) => void;
  /** Aborted when all brokers must stop. */
  readonly stopping: AbortSignal;
}

/**
 * Restarts a broker that ended or was killed; the others keep running. Resolves when asked to stop, once no
 * start is under way, or when the last broker ended too often.
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
    if (starts === MAX_RESTARTS) {
      say(
        `${name} has ended for the ${MAX_RESTARTS + 1}th time (${how}) and is not started again; its log is ${broker.logFile}`,
      );
      return;
    }
    say(`${name} has ended (${how}): starting it again in ${RESTART_MILLIS / 1_000} s`);
    await Promise.race([pause(clock, RESTART_MILLIS), stopped]);
    if (hasStopped()) return;
    await broker.start();
    say(`${name} was started again as process ${broker.pid}`);
  }
}

/** The signal explains a broker that was killed. For one that gave up, its last log lines explain more. */
async function howEnded(broker: Broker): Promise<string> {
  const { killedBy } = broker;
  return killedBy ?? `${broker.ending}: ${await broker.lastWords()}`;
}
