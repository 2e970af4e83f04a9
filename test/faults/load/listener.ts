import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../simulator/kernel/random.js';
import { StreamClient } from '#libs/client/stream-client.js';
import { StreamMemory, type SubscriptionHistory } from '#libs/client/stream-memory.js';
import type { Ack, Reject } from '#libs/client/stream-wire.js';
import type { LoadCaller, WireCommand } from './caller.js';
import type { Transcript } from './transcript.js';

const BETWEEN_TRIES_MS = 150;
const FOREVER_MS = 24 * 3_600_000;
const TRIM_EVERY_MS = 1_000;
const SILENT_MS = 25_000;
/** Chance of a disconnect each second: without it a short campaign might never resume a stream. */
const LEAVES = 0.04;

/** Follows all that an account may see, and resumes at another gateway when its stream ends. */
export class CampaignListener {
  readonly memory = new StreamMemory();
  streams = 0;
  private heardAt = 0;
  private client: StreamClient | undefined;
  private subscription = '';
  private isStopped = false;
  /** Undefined until its first stream has begun; that one is not retried. */
  private following: Promise<void> | undefined;
  private readonly trimming: NodeJS.Timeout;

  constructor(
    readonly caller: LoadCaller,
    private readonly gatewayUrls: readonly string[],
    private readonly transcript: Transcript,
    private readonly random: Random,
  ) {
    this.trimming = setInterval(() => this.trim(), TRIM_EVERY_MS).unref();
  }

  get told(): SubscriptionHistory {
    return this.memory.of(this.subscription);
  }

  async start(): Promise<this> {
    await this.connect();
    this.following = this.follow();
    return this;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.client?.kill();
    await this.following;
    clearInterval(this.trimming);
    this.trim();
  }

  /** Undefined if it cannot be sent or has no answer. */
  async submit({ command, body }: WireCommand): Promise<Ack | Reject | undefined> {
    const fields = { auction_id: command.auctionId, idempotency_key: command.key, ...body };
    try {
      const reply = await this.client?.ask('quote.submit', fields);
      return reply?.type === 'ack' || reply?.type === 'reject' ? reply : undefined;
    } catch {
      return undefined;
    }
  }

  private async follow(): Promise<void> {
    while (!this.isStopped) {
      await this.client?.untilClosed(FOREVER_MS).catch(() => undefined);
      await this.goOn();
    }
  }

  private async goOn(): Promise<void> {
    while (!this.isStopped) {
      const isConnected = await this.connect().then(
        () => true,
        () => false,
      );
      if (isConnected) return;
      await sleep(BETWEEN_TRIES_MS);
    }
  }

  private async connect(): Promise<void> {
    const client = await StreamClient.open(this.random.pick(this.gatewayUrls), {
      token: await this.caller.bearer(),
      memory: this.memory,
    });
    this.client = client;
    this.heardAt = performance.now();
    this.streams += 1;
    await this.greet(client).catch((error: unknown) => {
      // Later frames on this connection would be counted twice.
      client.kill();
      throw error;
    });
  }

  private async greet(client: StreamClient): Promise<void> {
    if (this.memory.token === undefined) {
      await client.hello();
      this.subscription = await client.subscribe({ channel: 'auctions' });
      return;
    }
    const welcome = await client.resume();
    const ids = welcome.subscriptions.map(({ subscription_id: id }) => id).join();
    if (!welcome.resumed || ids !== this.subscription)
      this.transcript.fault(`stream of ${this.caller.name}: not resumed, ${JSON.stringify(welcome)}`);
  }

  /** The record has the events; the texts are needed only for the ids in them. */
  private trim(): void {
    const { client } = this;
    if (client === undefined) return;
    const texts = client.texts.splice(0);
    client.frames.splice(0);
    for (const text of texts) this.transcript.hearFrame(this.caller.account, text);
    if (texts.length > 0) this.heardAt = performance.now();
    // A heartbeat is long overdue: the connection is dead without a close.
    else if (performance.now() - this.heardAt > SILENT_MS) client.kill();
    if (this.following !== undefined && this.random.chance(LEAVES)) client.kill();
  }
}
