import type { Protocol } from 'kafkajs/src/network/connection.js';
import protocol from 'kafkajs/src/protocol/requests/index.js';
import { readFetchAnswer, type FetchAnswer } from './fetch-answer.js';
import type { HostAndPort } from './kafka-address.js';
import { writeProduceRequest, type Produced } from './produce-request.js';

/** Versions of the protocol that every Kafka from 2.3 on speaks, 4.x included. */
const VERSIONS = { apiVersions: 2, metadata: 6, produce: 7, fetch: 11, listOffsets: 3 };

const { requests } = protocol;
const apiVersions = requests.ApiVersions.protocol({ version: VERSIONS.apiVersions });
const metadata = requests.Metadata.protocol({ version: VERSIONS.metadata });
const produce = requests.Produce.protocol({ version: VERSIONS.produce });
const fetch = requests.Fetch.protocol({ version: VERSIONS.fetch });
const listOffsets = requests.ListOffsets.protocol({ version: VERSIONS.listOffsets });

const ALL_IN_SYNC = -1;
const CLIENT = -1;
/** Returns only durable messages to clients; the journal does not use transactions. */
const UNCOMMITTED = 0;
export const EARLIEST = -2;
export const LATEST = -1;

/** The only partition of a topic. */
const PARTITION = 0;

/** A request, and how to read its reply. kafkajs throws for every error code in a reply. */
export interface Question<T> {
  readonly protocol: Protocol<unknown>;
  readonly answer: (parsed: unknown) => T;
}

function question<A, T>(asked: Protocol<A>, answer: (parsed: A) => T): Question<T> {
  return { protocol: asked, answer: (parsed) => answer(parsed as A) };
}

export function supportedVersions(): Question<object> {
  return question(apiVersions(), ({ apiVersions: all }) =>
    Object.fromEntries(all.map(({ apiKey, minVersion, maxVersion }) => [apiKey, { minVersion, maxVersion }])),
  );
}

export interface Leadership {
  /** Undefined while the topic has none. */
  readonly leader: HostAndPort | undefined;
  readonly brokers: readonly HostAndPort[];
}

/** The cluster's id, and its description of the topic. Errors count only from our cluster, so they are read last. */
export interface ClusterAnswer {
  readonly clusterId: string;
  readonly leadership: () => Promise<Leadership>;
}

export function leadershipOf(topic: string): Question<ClusterAnswer> {
  const { request, response } = metadata({ topics: [topic], allowAutoTopicCreation: false });
  const parse = (decoded: object): Promise<ClusterAnswer> =>
    Promise.resolve({
      clusterId: clusterIdIn(decoded),
      leadership: async () => {
        const { brokers, topicMetadata } = await response.parse(decoded);
        const partition = topicMetadata[0]?.partitionMetadata.find(
          ({ partitionId }) => partitionId === PARTITION,
        );
        return { brokers, leader: brokers.find(({ nodeId }) => nodeId === partition?.leader) };
      },
    });
  return question(
    { request, response: { decode: (payload) => response.decode(payload), parse } },
    (answer) => answer,
  );
}

function clusterIdIn(decoded: object): string {
  const id = 'clusterId' in decoded ? decoded.clusterId : undefined;
  if (typeof id !== 'string') throw new Error('an answer without a cluster id');
  return id;
}

export interface Written {
  /** Offset of the first message that was sent. */
  readonly base: number;
  /** Offset of the first message that the topic still has. */
  readonly start: number;
}

export function appending(sent: Produced): Question<Written> {
  const { request, response } = produce({ acks: ALL_IN_SYNC, timeout: sent.withinMillis, topicData: [] });
  const encode = () => {
    const body = writeProduceRequest(sent);
    // What kafkajs accepts as an encoder and its content.
    return Promise.resolve({ buf: body, buffer: body });
  };
  return question({ request: { ...request, encode }, response }, ({ topics }) => {
    const [written] = topics[0]?.partitions ?? [];
    return { base: offsetIn(written?.baseOffset), start: Number(written?.logStartOffset ?? 0) };
  });
}

export function offsetAt(topic: string, timestamp: number): Question<number> {
  const topics = [{ topic, partitions: [{ partition: PARTITION, timestamp }] }];
  const asked = listOffsets({ replicaId: CLIENT, isolationLevel: UNCOMMITTED, topics });
  return question(asked, ({ responses }) => offsetIn(responses[0]?.partitions[0]?.offset));
}

export function messagesFrom(topic: string, offset: number, maxBytes: number): Question<FetchAnswer> {
  const { request } = fetch({
    replicaId: CLIENT,
    isolationLevel: UNCOMMITTED,
    maxWaitTime: 0,
    minBytes: 1,
    maxBytes,
    topics: [{ topic, partitions: [{ partition: PARTITION, fetchOffset: String(offset), maxBytes }] }],
  });
  const response = {
    decode: (payload: Buffer) => Promise.resolve(readFetchAnswer(payload, offset)),
    parse: (decoded: object) => Promise.resolve(decoded),
  };
  return question({ request, response }, (decoded) => decoded as FetchAnswer);
}

function offsetIn(text: string | undefined): number {
  const offset = text === undefined ? NaN : Number(text);
  if (!Number.isSafeInteger(offset) || offset < 0) throw new Error('an answer without an offset');
  return offset;
}
