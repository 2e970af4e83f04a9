import type { Clock } from '#libs/platform/time/clock.js';
import { BrokerLink } from './broker-link.js';
import { nameOf, StrangeBroker, type KafkaCluster } from './kafka-cluster.js';
import { hostAndPort, type HostAndPort, type KafkaAddress } from './kafka-address.js';
import { leadershipOf, type ClusterAnswer } from './questions.js';
import { namingRight } from './rights.js';

const ANSWER_MILLIS = 3_000;

function isSame(one: HostAndPort, other: HostAndPort): boolean {
  return one.host === other.host && one.port === other.port;
}

/** Connects to a topic's present leader, by asking one broker after the other. */
export class LeaderFinder {
  /** The configured brokers, and those that they advertise. */
  private known: readonly HostAndPort[];

  constructor(
    private readonly address: KafkaAddress,
    private readonly topic: string,
    private readonly clock: Clock,
    private readonly cluster: KafkaCluster,
  ) {
    this.known = address.brokers.flatMap((broker) => hostAndPort(broker) ?? []);
  }

  async connect(): Promise<BrokerLink> {
    await this.cluster.learn();
    let failure: unknown = new Error('there is no broker to ask for its leader');
    // An error about another cluster must not hide why the right brokers do not reply.
    let isStrange = true;
    for (const broker of this.known) {
      let link: BrokerLink | undefined;
      // The next call starts with another broker, which may know a newer leader.
      this.known = [...this.known.filter((known) => known !== broker), broker];
      try {
        link = await BrokerLink.open(this.address, broker, this.clock);
        return await this.leaderBy(link);
      } catch (error) {
        link?.close();
        if (!(error instanceof StrangeBroker) || isStrange) failure = error;
        isStrange &&= error instanceof StrangeBroker;
      }
    }
    throw failure;
  }

  private async leaderBy(link: BrokerLink): Promise<BrokerLink> {
    const { leadership } = await this.admitted(link);
    const { leader, brokers } = await leadership().catch((error: unknown) => {
      throw namingRight('DESCRIBE', this.topic, error);
    });
    const news = brokers.filter((broker) => !this.known.some((known) => isSame(known, broker)));
    this.known = [...this.known, ...news];
    if (leader === undefined) throw new Error(`topic ${this.topic} has no leader`);
    if (isSame(leader, link.broker)) return link;
    const own = await BrokerLink.open(this.address, leader, this.clock);
    try {
      // Another cluster may be at the advertised address: two clusters may use the same host names.
      await this.admitted(own);
    } catch (error) {
      own.close();
      throw error;
    }
    link.close();
    return own;
  }

  /** A broker's description of the topic, if the broker belongs to the cluster. */
  private async admitted(link: BrokerLink): Promise<ClusterAnswer> {
    const answer = await link.ask(leadershipOf(this.topic), ANSWER_MILLIS);
    this.cluster.admit(nameOf(link.broker), answer.clusterId);
    return answer;
  }
}
