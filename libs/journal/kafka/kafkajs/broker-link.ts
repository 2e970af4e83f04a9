import loggers from 'kafkajs/src/loggers/index.js';
import Connection from 'kafkajs/src/network/connection.js';
import plainSockets from 'kafkajs/src/network/socketFactory.js';
import type { Socket } from 'node:net';
import type { Clock } from '#libs/platform/time/clock.js';
import type { HostAndPort, KafkaAddress } from './kafka-address.js';
import { type Question, supportedVersions } from './questions.js';

import '#libs/platform/kafkajs/idle-queues.js';

const CONNECT_MILLIS = 3_000;
const SILENT = 0;
const logger = loggers.createLogger({ level: SILENT, logCreator: () => () => undefined });

/**
 * One connection to one broker. kafkajs does frames, TLS and SASL; our code decides which broker to ask, how long to wait and how
 * often to retry. A connection that has once failed to reply is not used again.
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
      // Every request has its own timeout.
      enforceRequestTimeout: false,
    });
  }

  static async open(address: KafkaAddress, broker: HostAndPort, clock: Clock): Promise<BrokerLink> {
    const link = new BrokerLink(address, broker, clock);
    try {
      await within(clock, CONNECT_MILLIS, link.handshake());
    } catch (error) {
      link.close();
      throw inPlainWords(error);
    }
    return link;
  }

  async ask<T>({ protocol, answer }: Question<T>, withinMillis: number): Promise<T> {
    if (this.isClosed) throw new Error('the connection was closed');
    const sent = this.connection.send(protocol).catch((error: unknown) => {
      throw inPlainWords(error);
    });
    return answer(await within(this.clock, withinMillis, sent));
  }

  /** Requests in flight fail now; the broker may still carry them out. */
  close(): void {
    this.isClosed = true;
    for (const socket of this.sockets.splice(0)) socket.destroy(new Error('the connection was closed'));
  }

  private async handshake(): Promise<void> {
    await this.connection.connect();
    const { protocol, answer } = supportedVersions();
    this.connection.setVersions(answer(await this.connection.send(protocol)));
    this.connection.setSupportAuthenticationProtocol(true);
    await this.connection.authenticate();
  }
}

/** Rejects if work takes longer. Its result is then ignored. */
export async function within<T>(clock: Clock, millis: number, answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = clock.after(millis, () => {
    reject(new Error(`no answer within ${millis} ms`));
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    cancel();
    answer.catch(() => undefined);
  }
}

/** The broker's error codes, also after kafkajs gave up on several replies, or lists them topic by topic; empty if there are none. */
export function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('type' in error && typeof error.type === 'string') return error.type;
  if ('errors' in error && Array.isArray(error.errors)) return typeOf(error.errors[0]);
  return error.cause === undefined ? '' : typeOf(error.cause);
}

const NOISE = 'Connection error: ';

/** kafkajs reports socket errors as errors of the connection, and OpenSSL ends its messages with a line break. */
export function inPlainWords(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { message, cause } = error;
  const text = message.startsWith(NOISE) ? message.slice(NOISE.length) : message;
  const words = text.replaceAll(/\s*\n\s*/g, ' ').trim();
  return words === message ? error : new Error(words, { cause });
}
