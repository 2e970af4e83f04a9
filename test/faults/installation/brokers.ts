import path from 'node:path';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { Broker } from '#libs/platform/embedded-kafka/broker.js';
import { EmbeddedKafka } from '#libs/platform/embedded-kafka/embedded-kafka.js';
import type { JarPlaces } from '#libs/platform/embedded-kafka/jars.js';
import { pickPorts } from '#libs/platform/supervision/ports.js';
import type { Wires } from './wires.js';

const HOST = '127.0.0.1';
const LOOK_EVERY_MS = 1_500;

export const JARS: JarPlaces = {
  cacheFolder: path.resolve('node_modules/.cache/sotto-kafka'),
  pom: path.resolve('deploy/kafka/pom.xml'),
};

export interface BrokersPlace {
  readonly folder: string;
  readonly count: number;
  /** Processes that have their own wires to each broker. */
  readonly users: readonly string[];
  readonly wires: Wires;
  readonly clock: Clock;
}

interface Listener {
  readonly name: string;
  readonly port: number;
  readonly advertised: number;
}

/** The name under which brokers connect to each other. */
const PEER = 'broker';

/**
 * Kafka with a listener for each user, and one between brokers: each user learns the addresses of its own
 * wires. Controllers find each other directly, at addresses that are the same for all.
 */
export class Brokers {
  private readonly stopLooking: Cancel;

  private constructor(
    private readonly kafka: EmbeddedKafka,
    private readonly listeners: ReadonlyMap<string, readonly Listener[]>,
    clock: Clock,
  ) {
    this.stopLooking = repeat(clock, LOOK_EVERY_MS, () => this.revive());
  }

  static async start({ folder, count, users, wires, clock }: BrokersPlace): Promise<Brokers> {
    const comers = count > 1 ? [...users, PEER] : users;
    const ports = await pickPorts(count * comers.length);
    const listeners = new Map<string, Listener[]>();
    for (let id = 1; id <= count; id += 1) {
      const own: Listener[] = [];
      for (const user of comers) {
        const port = ports.pop() ?? 0;
        const advertised = await wires.lay(user, `broker-${id}`, port);
        own.push({ name: listenerOf(user), port, advertised });
      }
      listeners.set(String(id), own);
    }
    const kafka = await EmbeddedKafka.start({
      folder,
      brokers: count,
      ...JARS,
      settings: (place) => settingsOf(place, listeners.get(String(place.id)) ?? []),
    });
    return new Brokers(kafka, listeners, clock);
  }

  /** Without any wires. */
  get addresses(): readonly string[] {
    return this.kafka.addresses;
  }

  get all(): readonly Broker[] {
    return this.kafka.brokers;
  }

  addressesFor(user: string): string[] {
    const own = [...this.listeners.values()].flatMap((listeners) =>
      listeners.filter(({ name }) => name === listenerOf(user)),
    );
    return own.map(({ advertised }) => `${HOST}:${advertised}`);
  }

  async untilAllRun(): Promise<void> {
    await this.revive();
    await this.kafka.untilUsable();
  }

  async stop(): Promise<void> {
    this.stopLooking();
    for (const broker of this.all) broker.signal('SIGCONT');
    await this.kafka.stop();
  }

  private async revive(): Promise<void> {
    for (const broker of this.all) if (!broker.isRunning) await broker.start().catch(() => undefined);
  }
}

function listenerOf(user: string): string {
  return user.replace('-', '').toUpperCase();
}

function settingsOf(
  place: { readonly host: string; readonly port: number; readonly controllerPort: number },
  own: readonly Listener[],
): Record<string, string> {
  const { host, port, controllerPort } = place;
  const plain = [`PLAINTEXT://${host}:${port}`, ...own.map((one) => `${one.name}://${host}:${one.port}`)];
  const advertised = own.map((one) => `${one.name}://${host}:${one.advertised}`);
  const names = ['PLAINTEXT', 'CONTROLLER', ...own.map(({ name }) => name)];
  return {
    listeners: [...plain, `CONTROLLER://${host}:${controllerPort}`].join(','),
    'advertised.listeners': [`PLAINTEXT://${host}:${port}`, ...advertised].join(','),
    'listener.security.protocol.map': names.map((name) => `${name}:PLAINTEXT`).join(','),
    // An owner's clock jumps here, so it cannot date messages.
    'log.message.timestamp.type': 'LogAppendTime',
    'inter.broker.listener.name': names.find((name) => name === listenerOf(PEER)) ?? 'PLAINTEXT',
  };
}
