/**
 * The parts of kafkajs below its producer and consumer: one connection and its requests. The version is pinned and the package
 * finished, so these files do not change: see docs/decisions/08.
 */
declare module 'kafkajs/src/network/connection.js' {
  import type { ISocketFactory, SASLOptions } from 'kafkajs';
  import type { ConnectionOptions } from 'node:tls';

  namespace Connection {
    interface Protocol<T> {
      readonly request: object;
      readonly response: {
        decode(payload: Buffer): Promise<object>;
        parse(decoded: object): Promise<T>;
      };
    }
  }
  class Connection {
    constructor(options: {
      readonly host: string;
      readonly port: number;
      readonly clientId: string;
      readonly logger: object;
      readonly socketFactory: ISocketFactory;
      readonly connectionTimeout: number;
      readonly requestTimeout: number;
      readonly enforceRequestTimeout: boolean;
      readonly ssl: ConnectionOptions | null;
      readonly sasl: SASLOptions | null;
    });
    connect(): Promise<unknown>;
    authenticate(): Promise<void>;
    setVersions(versions: object): void;
    setSupportAuthenticationProtocol(isSupported: boolean): void;
    send<T>(protocol: Connection.Protocol<T>): Promise<T>;
  }
  export = Connection;
}

declare module 'kafkajs/src/protocol/requests/index.js' {
  import type { Protocol } from 'kafkajs/src/network/connection.js';

  interface Versioned<Q, A> {
    protocol(wanted: { readonly version: number }): (question: Q) => Protocol<A>;
  }
  interface OfTopic<P> {
    readonly topic: string;
    readonly partitions: readonly P[];
  }
  interface PartitionMetadata {
    readonly partitionId: number;
    readonly leader: number;
  }
  const protocol: {
    readonly requests: {
      readonly ApiVersions: Versioned<
        void,
        { readonly apiVersions: readonly { apiKey: number; minVersion: number; maxVersion: number }[] }
      >;
      readonly Metadata: Versioned<
        { readonly topics: readonly string[]; readonly allowAutoTopicCreation: boolean },
        {
          readonly brokers: readonly { nodeId: number; host: string; port: number }[];
          readonly topicMetadata: readonly { partitionMetadata: readonly PartitionMetadata[] }[];
        }
      >;
      readonly Produce: Versioned<
        {
          readonly acks: number;
          readonly timeout: number;
          readonly topicData: readonly OfTopic<{
            readonly partition: number;
            readonly firstSequence: number;
            readonly messages: readonly { readonly value: Buffer }[];
          }>[];
        },
        {
          readonly topics: readonly {
            readonly partitions: readonly { readonly baseOffset: string; readonly logStartOffset: string }[];
          }[];
        }
      >;
      readonly Fetch: Versioned<
        {
          readonly replicaId: number;
          readonly isolationLevel: number;
          readonly maxWaitTime: number;
          readonly minBytes: number;
          readonly maxBytes: number;
          readonly topics: readonly OfTopic<{
            readonly partition: number;
            readonly fetchOffset: string;
            readonly maxBytes: number;
          }>[];
        },
        object
      >;
      readonly ListOffsets: Versioned<
        {
          readonly replicaId: number;
          readonly isolationLevel: number;
          readonly topics: readonly OfTopic<{ readonly partition: number; readonly timestamp: number }>[];
        },
        { readonly responses: readonly { readonly partitions: readonly { readonly offset: string }[] }[] }
      >;
    };
  };
  export = protocol;
}

declare module 'kafkajs/src/protocol/error.js' {
  const errors: { createErrorFromCode(code: number): Error };
  export = errors;
}

declare module 'kafkajs/src/network/socketFactory.js' {
  import type { ISocketFactory } from 'kafkajs';
  function socketFactory(): ISocketFactory;
  export = socketFactory;
}

declare module 'kafkajs/src/loggers/index.js' {
  const loggers: {
    createLogger(options: { readonly level: number; readonly logCreator: () => () => void }): object;
  };
  export = loggers;
}
