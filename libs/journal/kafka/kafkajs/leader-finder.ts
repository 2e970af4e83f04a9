import type { Clock } from '#libs/platform/clock.js';
import { BrokerLink } from './broker-link.js';
import { hostAndPort, type HostAndPort, type KafkaAddress } from './kafka-address.js';
import { leadershipOf } from './questions.js';
import { namingRight } from './rights.js';

const ANSWER_MILLIS = 3_000;

function isSame(one: HostAndPort, other: HostAndPort): boolean {
  return one.host === other.host && one.port === other.port;
}

/** Connects to whoever leads a topic just now, asking one broker after the other where that is. */
export class LeaderFinder {
  /** Those that were named, and those that they have told of. */
  private known: readonly HostAndPort[];

  constructor(
    private readonly address: KafkaAddress,
    private readonly topic: string,
    private readonly clock: Clock,
  ) {
    this.known = address.brokers.flatMap((broker) => hostAndPort(broker) ?? []);
  }

  async connect(): Promise<BrokerLink> {
    let failure: unknown = new Error('there is nobody to ask for its leader');
    for (const broker of this.known) {
      let link: BrokerLink | undefined;
      // Next time somebody else is asked first: this one may know nothing newer then.
      this.known = [...this.known.filter((known) => known !== broker), broker];
      try {
        link = await BrokerLink.open(this.address, broker, this.clock);
        return await this.leaderBy(link);
      } catch (error) {
        link?.close();
        failure = error;
      }
    }
    throw failure;
  }

  private async leaderBy(link: BrokerLink): Promise<BrokerLink> {
    const asked = link.ask(leadershipOf(this.topic), ANSWER_MILLIS).catch((error: unknown) => {
      throw namingRight('DESCRIBE', this.topic, error);
    });
    const { leader, brokers } = await asked;
    const news = brokers.filter((broker) => !this.known.some((known) => isSame(known, broker)));
    this.known = [...this.known, ...news];
    if (leader === undefined) throw new Error(`topic ${this.topic} has no leader`);
    if (isSame(leader, link.broker)) return link;
    const own = await BrokerLink.open(this.address, leader, this.clock);
    link.close();
    return own;
  }
}
