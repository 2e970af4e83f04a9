import { AccountBuckets } from '#libs/shard/tokens/buckets.js';
import { TokenExchange } from '#libs/shard/tokens/token-exchange.js';
import { TokenHome } from '#libs/shard/tokens/token-home.js';
import type { BucketName, OwnerRequest } from '#libs/auction/protocol/protocol.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { nextTurn } from '#libs/platform/time/clock.js';
import { SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';

const SHARDS = [0, 1, 2];

/** What the network does to one message. */
export interface Passage {
  readonly millis: number;
  readonly fate: 'ARRIVES' | 'IS_LOST' | 'COMES_TWICE';
}

interface Process {
  readonly life: number;
  readonly home: TokenHome;
  readonly exchange: TokenExchange;
}

export interface TokenShardsOptions {
  readonly passages: readonly Passage[];
  /** A token has left a bucket for somebody who uses it now. */
  readonly onTaken: (shard: number, bucket: BucketName) => void;
}

/** The owners' buckets and leases, three processes on a network and a clock that obey the test. */
export class TokenShards {
  readonly clock = new SteppedClock();
  /** All that was asked, `from>to op`. */
  readonly messages: string[] = [];
  private readonly processes: Process[];
  private readonly connections = new Map<string, number>();
  private readonly mute = new Set<number>();
  private passage = 0;

  constructor(private readonly options: TokenShardsOptions) {
    this.processes = SHARDS.map((shard) => this.begin(shard, 1));
  }

  /** What falls due on the way runs in order, each with all that follows from it. */
  pass(millis: number): Promise<void> {
    return this.clock.passSettling(millis, settled);
  }

  /** True at once is from a lease, or from the bucket itself where the account is at home. */
  take(shard: number, account: string, bucket: BucketName): boolean | Promise<boolean> {
    return this.processOf(shard).exchange.take(account, bucket);
  }

  async available(home: number, account: string): Promise<Record<BucketName, number>> {
    const told = this.processOf(home).home.available(account);
    await this.pass(60);
    return told;
  }

  /** Whatever it was doing is gone, and everybody it spoke to knows that the connection is. */
  restart(shard: number): void {
    this.processes[shard] = this.begin(shard, this.processOf(shard).life + 1);
    for (const other of SHARDS) {
      this.reconnect(shard, other);
      this.reconnect(other, shard);
    }
  }

  reconnect(from: number, to: number): void {
    this.connections.set(`${from}>${to}`, this.connection(from, to) + 1);
  }

  /** Nothing comes from it and nothing gets to it, though its connections stand. */
  silence(shard: number): void {
    this.mute.add(shard);
  }

  unsilence(shard: number): void {
    this.mute.delete(shard);
  }

  private connection(from: number, to: number): number {
    return this.connections.get(`${from}>${to}`) ?? 1;
  }

  private processOf(shard: number): Process {
    const process = this.processes[shard];
    if (process === undefined) throw new Error(`there is no shard ${shard}`);
    return process;
  }

  private begin(shard: number, life: number): Process {
    const { clock } = this;
    const buckets = new AccountBuckets(clock, 1);
    const take = buckets.take.bind(buckets);
    buckets.take = (account, bucket) => {
      const taken = take(account, bucket);
      // What a process does that has ended is of no consequence.
      if (taken && this.processes[shard]?.life === life) this.options.onTaken(shard, bucket);
      return taken;
    };
    const peers = new Map(
      SHARDS.filter((other) => other !== shard).map((other) => [other, this.peer(shard, other)]),
    );
    const home = new TokenHome({ clock, limitsFactor: 1, peers, buckets });
    const alone = new AccountBuckets(clock, 1, true);
    return {
      life,
      home,
      exchange: new TokenExchange({ clock, holder: { shard, life }, peers, home, alone }),
    };
  }

  private peer(from: number, to: number) {
    const connection = (): number => this.connection(from, to);
    return {
      get connection(): number {
        return connection();
      },
      request: (request: OwnerRequest, patience = 10_000): Promise<LinkReply> =>
        new Promise((resolve, reject) => {
          this.messages.push(`${from}>${to} ${request.op}`);
          this.clock.after(patience, () => {
            reject(new Error('no answer in time'));
          });
          const carrier = connection();
          this.carry(() => {
            if (connection() !== carrier || this.mute.has(from) || this.mute.has(to)) return;
            void this.answer(to, request).then((answer) => {
              this.carry(() => {
                if (connection() === carrier) resolve(answer);
              });
            });
          });
        }),
    };
  }

  private async answer(shard: number, request: OwnerRequest): Promise<LinkReply> {
    const { home, exchange } = this.processOf(shard);
    if (request.op === 'take_tokens') return home.grant(request);
    if (request.op === 'call_in') return exchange.callIn(request);
    throw new Error(`nobody here knows ${request.op}`);
  }

  private carry(arrive: () => void): void {
    const { passages } = this.options;
    const { millis, fate } = passages[this.passage % passages.length] ?? { millis: 0, fate: 'ARRIVES' };
    this.passage += 1;
    if (fate === 'IS_LOST') return;
    this.clock.after(millis, arrive);
    if (fate === 'COMES_TWICE') this.clock.after(millis * 2, arrive);
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
}
