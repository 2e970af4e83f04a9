/**
 * The parts of kafkajs below its producer and consumer. Its consumers read in groups, which cost a rebalance before the first
 * message and cannot be asked for one place; its producer adds retries that a fenced log must not have. The version is pinned
 * and the package finished, so these files do not change: see docs/decisions.
 */
declare module 'kafkajs/src/cluster/index.js' {
  interface PartitionAnswer {
    readonly partition: number;
    readonly baseOffset: string;
  }
  interface FetchedMessage {
    readonly offset: string;
    readonly value: Buffer | null;
    readonly isControlRecord?: boolean;
  }
  interface FetchedPartition {
    readonly highWatermark: string;
    readonly messages: readonly FetchedMessage[];
  }
  interface TopicMetadata {
    readonly topic: string;
    readonly partitionMetadata: readonly { readonly partitionId: number; readonly leader: number }[];
  }
  export interface Broker {
    produce(request: {
      readonly acks: number;
      readonly timeout: number;
      readonly topicData: readonly {
        readonly topic: string;
        readonly partitions: readonly {
          readonly partition: number;
          readonly firstSequence: number;
          readonly messages: readonly { readonly value: Buffer }[];
        }[];
      }[];
    }): Promise<{ readonly topics: readonly { readonly partitions: readonly PartitionAnswer[] }[] }>;
    fetch(request: {
      readonly replicaId: number;
      readonly isolationLevel: number;
      readonly maxWaitTime: number;
      readonly minBytes: number;
      readonly maxBytes: number;
      readonly topics: readonly {
        readonly topic: string;
        readonly partitions: readonly {
          readonly partition: number;
          readonly fetchOffset: string;
          readonly maxBytes: number;
        }[];
      }[];
    }): Promise<{ readonly responses: readonly { readonly partitions: readonly FetchedPartition[] }[] }>;
    listOffsets(request: {
      readonly replicaId: number;
      readonly isolationLevel: number;
      readonly topics: readonly {
        readonly topic: string;
        readonly partitions: readonly { readonly partition: number; readonly timestamp: number }[];
      }[];
    }): Promise<{
      readonly responses: readonly { readonly partitions: readonly { readonly offset: string }[] }[];
    }>;
  }
  export default class Cluster {
    constructor(options: object);
    connect(): Promise<void>;
    disconnect(): Promise<void>;
    refreshMetadata(): Promise<void>;
    addTargetTopic(topic: string): Promise<void>;
    findBroker(wanted: { readonly nodeId: string }): Promise<Broker>;
    findLeaderForPartitions(
      topic: string,
      partitions: readonly number[],
    ): Readonly<Record<string, readonly number[]>>;
    metadata(wanted?: {
      readonly topics: readonly string[];
    }): Promise<{ readonly topicMetadata: readonly TopicMetadata[] }>;
  }
}

declare module 'kafkajs/src/network/socketFactory.js' {
  export default function socketFactory(): object;
}

declare module 'kafkajs/src/loggers/index.js' {
  const loggers: {
    createLogger(options: { readonly level: number; readonly logCreator: () => () => void }): object;
  };
  export default loggers;
}
