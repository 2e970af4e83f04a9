import '#libs/platform/kafkajs/idle-queues.js';
import type { Socket } from 'node:net';
import loggers from 'kafkajs/src/loggers/index.js';
import Connection from 'kafkajs/src/network/connection.js';
import plainSockets from 'kafkajs/src/network/socketFactory.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { inPlainWords } from './answered-error.js';
import type { HostAndPort, KafkaAddress } from './kafka-address.js';
import { supportedVersions, type Question } from './questions.js';
import { within } from './within.js';

const CONNECT_MILLIS = 3_000;
const SILENT = 0;
const logger = loggers.createLogger({ level: SILENT, logCreator: () => () => undefined });

/**
 * One connection to one broker. Frames, TLS and SASL are kafkajs's; whom to ask, for how long and how often is not. A connection
 * that has once failed to answer is never asked again.
 */
export class BrokerLink {
  private sockets: Socket[] = [];
  private readonly connection: Connection;
  private isClosed = false;

  private constructor(
    address: KafkaAddress,
    readonly broker: HostAndPort,
    private readonly clock: Clock,
  ) {
    const { clientId, ssl = null, sasl = null, socketFactory = plainSockets() } = address;
    this.connection = new Connection({
      ...broker,
      clientId,
      ssl,
      sasl,
      logger,
      socketFactory: (wanted) => {
        const socket = socketFactory(wanted);
        this.sockets.push(socket);
        return socket;
      },
      connectionTimeout: CONNECT_MILLIS,
      requestTimeout: CONNECT_MILLIS,
      // Every question has a time of its own.
      enforceRequestTimeout: false,
    });
  }

  static async open(address: KafkaAddress, broker: HostAndPort, clock: Clock): Promise<BrokerLink> {
    const link = new BrokerLink(address, broker, clock);
    try {
      await within(clock, CONNECT_MILLIS, link.greet());
    } catch (error) {
      link.close();
      throw inPlainWords(error);
    }
    return link;
  }

  async ask<T>({ protocol, answer }: Question<T>, withinMillis: number): Promise<T> {
    if (this.isClosed) throw new Error('the connection was given up');
    const sent = this.connection.send(protocol).catch((error: unknown) => {
      throw inPlainWords(error);
    });
    return answer(await within(this.clock, withinMillis, sent));
  }

  /** Whatever is under way here fails now; the broker may still carry it out. */
  close(): void {
    this.isClosed = true;
    for (const socket of this.sockets.splice(0)) socket.destroy(new Error('the connection was given up'));
  }

  private async greet(): Promise<void> {
    await this.connection.connect();
    const { protocol, answer } = supportedVersions();
    this.connection.setVersions(answer(await this.connection.send(protocol)));
    this.connection.setSupportAuthenticationProtocol(true);
    await this.connection.authenticate();
  }
}
