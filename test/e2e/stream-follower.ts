import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#libs/testing/eventually.js';
import { StreamMemory, type SubscriptionHistory } from '#libs/client/stream-memory.js';
import type { StreamClient } from '#libs/client/stream-client.js';
import type { StreamFloor } from './stream-floor.js';
import { faultsIn, isToldOf, type Timelines } from './stream-record.js';
import type { Trader } from './trading-floor.js';

type Fields = Readonly<Record<string, unknown>>;

export interface Habits {
  /** The gateways that it uses in turn. */
  readonly gateways?: readonly number[];
  /** Sent with every hello. */
  readonly hello?: Fields;
}

const BETWEEN_TRIES_MS = 100;

/** Follows everything of one account: when its stream ends, it resumes at the next gateway that accepts it. */
export class StreamFollower {
  readonly memory = new StreamMemory();
  /** Faults of the service. */
  readonly faults: string[] = [];
  /** Close codes of the streams that ended. */
  readonly ends: number[] = [];
  private current: StreamClient | undefined;
  private following: Promise<void> = Promise.resolve();
  private isStopped = false;
  private where = 0;
  private subscriptions: readonly string[] = [];

  constructor(
    private readonly floor: StreamFloor,
    readonly trader: Trader,
    private readonly habits: Habits = {},
  ) {}

  get client(): StreamClient {
    if (this.current === undefined) throw new Error(`${this.trader.name} does not listen yet`);
    return this.current;
  }

  /** The history of its first subscription. */
  get told(): SubscriptionHistory {
    return this.memory.of(this.subscriptions[0] ?? '');
  }

  get allTold(): readonly SubscriptionHistory[] {
    return this.subscriptions.map((id) => this.memory.of(id));
  }

  async start(...subscriptions: readonly Fields[]): Promise<this> {
    const client = await this.open();
    await client.hello(this.habits.hello);
    this.current = client;
    const wanted = subscriptions.length === 0 ? [{ channel: 'auctions' }] : subscriptions;
    this.subscriptions = await Promise.all(wanted.map((fields) => client.subscribe(fields)));
    this.following = this.follow();
    return this;
  }

  /** Resolves when every subscription has received the end of these timelines, over any number of streams. */
  async hears(timelines: Timelines, withinMs = 30_000): Promise<void> {
    await eventually(() => {
      const late = this.allTold.filter((told) => !isToldOf(told, timelines));
      if (late.length > 0) throw new Error(`${this.trader.name} has not received the end of all of it`);
    }, withinMs);
  }

  /** All differences between what it received and the events endpoint. */
  wrongs(timelines: Timelines): string[] {
    return [
      ...this.faults,
      ...this.memory.faults,
      ...this.allTold.flatMap((told) => faultsIn(told, timelines)),
    ];
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.current?.kill();
    await this.following;
  }

  private async follow(): Promise<void> {
    for (;;) {
      const { code } = await this.client.untilClosed(24 * 3_600_000);
      if (this.isStopped) return;
      this.ends.push(code);
      await this.goOn();
    }
  }

  private async goOn(): Promise<void> {
    while (!this.isStopped) {
      this.where += 1;
      try {
        const client = await this.open();
        const welcome = await client.resume(this.habits.hello);
        const ids = welcome.subscriptions.map(({ subscription_id: id }) => id);
        if (!welcome.resumed || ids.join() !== this.subscriptions.join())
          this.faults.push(`${this.trader.name} was welcomed with ${JSON.stringify(welcome)}`);
        this.current = client;
        return;
      } catch {
        await sleep(BETWEEN_TRIES_MS);
      }
    }
  }

  private async open(): Promise<StreamClient> {
    const { gateways = [0, 1] } = this.habits;
    const gateway = gateways[this.where % gateways.length] ?? 0;
    const token = await this.floor.token(this.trader.name);
    return this.floor.open({ token, gateway, memory: this.memory });
  }
}
