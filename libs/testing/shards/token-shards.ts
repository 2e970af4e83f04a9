import { AccountBuckets, type BucketRules } from '#libs/shard/tokens/buckets.js';
import { TokenExchange } from '#libs/shard/tokens/token-exchange.js';
import { TokenHome } from '#libs/shard/tokens/token-home.js';
import type { TokenPeer } from '#libs/shard/tokens/token-messages.js';
import { nextTurn } from '#libs/platform/time/clock.js';
import { SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';

const SHARDS = [0, 1, 2];

export type Metered = 'quote' | 'withdraw' | 'create';

export const RULES: BucketRules<Metered> = {
  names: ['quote', 'withdraw', 'create'],
  limits: {
    quote: { rate_per_second: 50, burst: 100 },
    withdraw: { rate_per_second: 100, burst: 500 },
    create: { rate_per_second: 2, burst: 4 },
  },
  leased: ['quote', 'withdraw'],
  factor: 1,
};

/** An account's name begins with the digit of its home shard. */
export function homeOf(account: string): number {
  return Number(account[0]);
}

/** What the network does to one message. */
export interface Passage {
  readonly millis: number;
  readonly fate: 'ARRIVES' | 'IS_LOST' | 'COMES_TWICE';
}

interface Process {
  readonly epoch: number;
  readonly home: TokenHome<Metered>;
  readonly exchange: TokenExchange<Metered>;
}

export interface TokenShardsOptions {
  readonly passages: readonly Passage[];
  /** Called when a token has left a bucket and is used now. */
  readonly onTaken: (shard: number, bucket: Metered) => void;
}

/** The buckets and leases of three owners, on a network and a clock that the test controls. */
export class TokenShards {
  readonly clock = new SteppedClock();
  /** All messages, as `from>to op`. */
  readonly messages: string[] = [];
  private readonly processes: Process[];
  private readonly connections = new Map<string, number>();
  private readonly mute = new Set<number>();
  private passage = 0;

  constructor(private readonly options: TokenShardsOptions) {
    this.processes = SHARDS.map((shard) => this.begin(shard, 1));
  }

  /** Runs everything that falls due in this time in order, each with all its consequences. */
  pass(millis: number): Promise<void> {
    return this.clock.passSettling(millis, settled);
  }

  /** `true` instead of a promise means that a lease, or the bucket at the home shard, gave the token. */
  take(shard: number, account: string, bucket: Metered): boolean | Promise<boolean> {
    return this.processOf(shard).exchange.take(account, bucket);
  }

  async available(home: number, account: string): Promise<Record<string, number>> {
    const available = this.processOf(home).home.available(account);
    await this.pass(60);
    return Object.fromEntries(await available);
  }

  /** Restarts the process of a shard. Its work is lost, and its connections are replaced. */
  restart(shard: number): void {
    this.processes[shard] = this.begin(shard, this.processOf(shard).epoch + 1);
    for (const other of SHARDS) {
      this.reconnect(shard, other);
      this.reconnect(other, shard);
    }
  }

  reconnect(from: number, to: number): void {
    this.connections.set(`${from}>${to}`, this.connection(from, to) + 1);
  }

  /** No messages come from the shard or get to it, although its connections stay open. */
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

  private begin(shard: number, epoch: number): Process {
    const { clock } = this;
    const buckets = new AccountBuckets(clock, RULES);
    const take = buckets.take.bind(buckets);
    buckets.take = (account, bucket) => {
      const taken = take(account, bucket);
      // What an ended process takes does not count.
      if (taken && this.processes[shard]?.epoch === epoch) this.options.onTaken(shard, bucket);
      return taken;
    };
    const peers = new Map(
      SHARDS.filter((other) => other !== shard).map((other) => [other, this.peer(shard, other)]),
    );
    const home = new TokenHome({ clock, peers, buckets });
    const alone = new AccountBuckets(clock, RULES, SHARDS.length);
    return {
      epoch,
      home,
      exchange: new TokenExchange({ clock, holder: { shard, epoch }, peers, homeOf, home, alone }),
    };
  }

  private peer(from: number, to: number): TokenPeer<Metered> {
    const connection = (): number => this.connection(from, to);
    return {
      get connection() {
        return connection();
      },
      takeTokens: (message, patience) =>
        this.ask(from, to, { name: 'takeTokens', patience }, async ({ home }) => home.grant(message)),
      recallLeases: (message, patience) =>
        this.ask(from, to, { name: 'recallLeases', patience }, ({ exchange }) =>
          Promise.resolve(exchange.recall(message)),
        ),
    };
  }

  private ask<Answer>(
    from: number,
    to: number,
    { name, patience }: { readonly name: string; readonly patience: number },
    answer: (process: Process) => Promise<Answer>,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.messages.push(`${from}>${to} ${name}`);
      this.clock.after(patience, () => {
        reject(new Error('no answer in time'));
      });
      const carrier = this.connection(from, to);
      this.carry(() => {
        if (this.connection(from, to) !== carrier || this.mute.has(from) || this.mute.has(to)) return;
        void answer(this.processOf(to)).then((answered) => {
          this.carry(() => {
            if (this.connection(from, to) === carrier) resolve(answered);
          });
        });
      });
    });
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
