import { StreamClient } from '#libs/client/stream-client.js';
import { alternating } from '../alternating.js';
import type { Ground } from '../ground/ground.js';
import { SideProcess } from '../ground/side-process.js';
import type { BenchFloor } from '../ground/trading-floor.js';
import { closedLoop } from '../load/closed-loop.js';
import { QuoteRing } from '../load/quote-ring.js';
import { overStreams } from '../load/quoting.js';
import { asFastAs, type RowOutcome, type Row, type Settings } from '../row.js';

const LISTENERS = 100;
const FEW = 4;
/** One maker in each auction, so that every mutation is one event for each listener. */
const AUCTIONS = 128;
const IN_FLIGHT = 64;

/** Events of one account to all of its sockets, compared with a server that only sends the same bytes. */
export const fanOut: Row = {
  name: 'fanout',
  title: 'Stream fan-out to 100 sockets of one account',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const floor = await ground.floor();
    const count = settings.quick ? FEW : LISTENERS;
    const ours = await ListeningAccount.open(floor, count);
    const theirs = await BareListeners.open(count, ours.example);
    const { medians, runs } = await alternating(
      { bare: () => theirs.perSecond(settings.seconds), events: () => ours.perSecond(settings.seconds) },
      settings,
    );
    await theirs.close();
    const baseline = { name: 'bare ws, the same bytes', measured: medians.bare };
    const check = asFastAs('events delivered', '/s', medians.events, baseline, { minimum: 0.5, goal: 0.8 });
    return { checks: [check], details: { runs, bytes: ours.example.length, listeners: count } };
  },
};

class ListeningAccount {
  private received = 0;
  private last = '';

  private constructor(
    private readonly listeners: readonly StreamClient[],
    private readonly ring: QuoteRing,
  ) {
    for (const listener of listeners) {
      listener.onFrame = (frame) => {
        if (frame.type !== 'event') return;
        this.received += 1;
        this.last = JSON.stringify(frame);
      };
    }
  }

  static async open(floor: BenchFloor, count: number): Promise<ListeningAccount> {
    const maker = floor.makers[0];
    if (maker === undefined) throw new Error('there is no maker');
    const auctions = await floor.openAuctions(AUCTIONS, 1, 1);
    const [speaker, ...listeners] = await floor.streamsOf(Array.from({ length: count + 1 }, () => maker));
    if (speaker === undefined) throw new Error('there is no speaker');
    for (const listener of listeners) await listener.ask('subscribe', { channel: 'auctions' });
    const ring = new QuoteRing(auctions, `fanout-${performance.now()}`, overStreams([speaker]));
    const account = new ListeningAccount(listeners, ring);
    await account.perSecond(1);
    return account;
  }

  /** The last event, as it was sent. */
  get example(): string {
    return this.last;
  }

  async perSecond(seconds: number): Promise<number> {
    const before = this.received;
    const acknowledged = await closedLoop(IN_FLIGHT, seconds, () => this.ring.mutate());
    const received = this.received - before;
    // Events in flight at the end count in the next run, and those of the previous run here.
    return Math.min(received, acknowledged * seconds * this.listeners.length) / seconds;
  }
}

class BareListeners {
  private received = 0;

  private constructor(
    private readonly server: SideProcess,
    private readonly driver: StreamClient,
    private readonly listeners: readonly StreamClient[],
    private readonly message: string,
  ) {
    for (const listener of listeners) listener.onFrame = () => void (this.received += 1);
  }

  static async open(count: number, message: string): Promise<BareListeners> {
    const server = await SideProcess.start('bare-fan-out', []);
    const connect = (token: string): Promise<StreamClient> =>
      StreamClient.open(server.url, { token, keepsNothing: true });
    const listeners = await Promise.all(Array.from({ length: count }, () => connect('listener')));
    return new BareListeners(server, await connect('driver'), listeners, message);
  }

  async perSecond(seconds: number): Promise<number> {
    const before = this.received;
    const waiting: (() => void)[] = [];
    this.driver.onFrame = () => waiting.shift()?.();
    await closedLoop(IN_FLIGHT, seconds, () => {
      return new Promise((resolve) => {
        waiting.push(resolve);
        this.driver.sayText(this.message);
      });
    });
    return (this.received - before) / seconds;
  }

  async close(): Promise<void> {
    for (const client of [...this.listeners, this.driver]) client.kill();
    await this.server.stop();
  }
}
