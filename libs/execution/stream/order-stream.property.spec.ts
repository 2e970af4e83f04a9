import { expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { instantFromNanos } from '#libs/base/instant.js';
import type { JournalWriter } from '#libs/journal/journal.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { settled, SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import { TestSocket } from '#libs/socket/fixtures/test-socket.js';
import type { ClientSession } from '#libs/socket/session-guard.js';
import { ResumeTokens } from '#libs/socket/resume-token.js';
import { encodeCellEvent } from '../protocol/event-codec.js';
import type { OrderEvent } from '../rules/events.js';
import { evolveOrder } from '../rules/evolve.js';
import { isTerminal, type OrderState } from '../rules/order.js';
import { orderRecord } from '../rules/record.js';
import type { VenueId } from '../rules/venues.js';
import { CellFeed } from './cell-feed.js';
import { openConnection } from './connection/conversation.js';
import type { SocketConnection, SocketPorts } from './connection/socket-ports.js';
import type { StreamCaller } from './ports.js';
import { resumePoints } from './resume-point.js';
import { SOCKET_LIMITS } from './socket-limits.js';
import { JournalUserEvents, type UserEvents } from './user-events.js';
import { UserFolds } from './user-folds.js';

const USERS = ['ada', 'bob'] as const;
const VENUES: readonly VenueId[] = ['venue_b', 'venue_e'];
/** Limits so small that every special case occurs often. */
const LIMITS = {
  ...SOCKET_LIMITS,
  ...{ snapshotPart: 3, tokenEvents: 4, tokenMillis: 100, historyPage: 3, recentChanges: 4, endedOrders: 2 },
  ...{ heartbeatMillis: 50, silentHeartbeats: 1e6, lingerMillis: 500, catchUpMillis: 1e9 },
};
const TOKENS = new ResumeTokens(['11'.repeat(32)], resumePoints, {
  id: '7d0b1a52-3c64-4f0e-9d1a-0c5b8e2f6a11',
});

const CHANGES = [
  'SUBMIT',
  'PLACE',
  'FILL',
  'FILL AGAIN',
  'CANCEL',
  'REFUSE',
  'END',
  'STALL',
  'CALL',
  'AMEND',
] as const;
type Change = (typeof CHANGES)[number];

type Step =
  | { readonly do: 'accept'; readonly user: number; readonly venue: number }
  | { readonly do: 'change'; readonly order: number; readonly change: Change }
  | { readonly do: 'take in'; readonly gateway: number }
  | { readonly do: 'connect'; readonly gateway: number }
  | { readonly do: 'subscribe'; readonly venue: number | undefined }
  | { readonly do: 'disconnect' }
  | { readonly do: 'read'; readonly frames: number }
  | { readonly do: 'pass'; readonly millis: number };

const index = fc.nat({ max: 30 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('accept' as const), user: fc.nat(1), venue: fc.nat(1) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      order: index,
      change: fc.constantFrom(...CHANGES),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('take in' as const), gateway: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('connect' as const), gateway: fc.nat(1) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('subscribe' as const),
      venue: fc.option(fc.nat(1), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('disconnect' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('read' as const), frames: fc.integer({ min: 1, max: 12 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('pass' as const), millis: fc.integer({ min: 1, max: 400 }) }),
  },
);

/** A cell and its journal, with every version that its orders ever had. */
class World {
  readonly store = new MemoryJournalStore('execution');
  readonly orders = new Map<string, OrderState>();
  /** Every version of each order as lists show it, and whether it was over. */
  readonly versions = new Map<string, { readonly record: unknown; readonly isOver: boolean }[]>();
  private readonly writer: Promise<JournalWriter> = new MemoryJournal(this.store).open(0);
  private fills = 0;

  constructor(readonly clock: SteppedClock) {}

  async head(): Promise<number> {
    return (await this.store.heads([0])).get(0) ?? 0;
  }

  async write(event: OrderEvent): Promise<void> {
    await (await this.writer).append([encodeCellEvent(event)]);
    const before = this.orders.get(event.order_id);
    const state = evolveOrder(before, event);
    this.orders.set(event.order_id, state);
    const versions = this.versions.get(event.order_id) ?? [];
    this.versions.set(event.order_id, versions);
    const record: unknown = JSON.parse(JSON.stringify(orderRecord(state, 'row')));
    if (versions.length < state.version) versions.push({ record, isOver: isTerminal(state) });
  }

  async accept(user_id: string, venue: VenueId): Promise<void> {
    const order_id = `o${this.orders.size}`;
    await this.write({
      type: 'ORDER_ACCEPTED',
      ...{ at: this.now(), user_id, order_id },
      terms: {
        ...{ order_id, user_id, origin: 'sotto', client_order_id: order_id, venue, market_id: 'M' },
        ...{ outcome: 'Yes', outcome_index: 0, side: 'buy', kind: 'limit' },
        ...{ time_in_force: 'GTC', post_only: false },
        ...{ quantity: 4_000_000n, price: 500_000n, requested: { quantity: 4_000_000n, price: 500_000n } },
        ...{
          bound: 500_000n,
          max_retries: 0,
          collateral: 'skip',
          shard_funding: true,
          source: 'api',
          channel: 'WS',
        },
        ...{ content: '', market: { min_size: 1_000_000n, closes_at: '2027-01-01T00:00:00.000000000Z' } },
      },
    });
  }

  async change(which: number, change: Change): Promise<void> {
    const order_id = [...this.orders.keys()][which % Math.max(1, this.orders.size)];
    const state = order_id === undefined ? undefined : this.orders.get(order_id);
    if (state === undefined) return;
    await this.write(this.eventOf(state, change));
  }

  private eventOf(
    { terms: { order_id, user_id }, fill_ids: filled }: OrderState,
    change: Change,
  ): OrderEvent {
    const at = this.now();
    const own = { at, user_id, order_id };
    switch (change) {
      case 'SUBMIT': {
        const sent = { quantity: 4_000_000n, price: 500_000n };
        return { ...own, type: 'SUBMISSION_STARTED', attempt: 1, venue_client_id: order_id, sent };
      }
      case 'PLACE':
        return { ...own, type: 'ORDER_PLACED', exchange_order_id: 'x' };
      case 'FILL':
      case 'FILL AGAIN': {
        const known = change === 'FILL' ? undefined : filled.at(-1);
        this.fills += known === undefined ? 1 : 0;
        const fill = {
          ...{
            fill_id: known ?? `f${this.fills}`,
            price: 500_000n,
            quantity: 1_000_000n,
            fee: 0n,
            is_fee_told: true,
          },
          ...({ liquidity: 'taker', venue_trade_id: 't', occurred_at: at } as const),
        };
        return { ...own, type: 'ORDER_FILLED', exchange_order_id: 'x', fill };
      }
      case 'CANCEL':
        return { ...own, type: 'CANCEL_REQUESTED', cause: 'USER' };
      case 'REFUSE':
        return { ...own, type: 'CANCEL_REFUSED', message: 'no' };
      case 'END':
        return { ...own, type: 'ORDER_ENDED', status: 'cancelled', terminal_reason: 'USER' };
      case 'STALL':
        return { ...own, type: 'ORDER_STALLED', is_stalled: true };
      case 'AMEND':
        return { ...own, type: 'ORDER_AMENDED', amend_id: 'a', price: 400_000n };
      case 'CALL':
        return {
          ...own,
          type: 'CALL_RECORDED',
          call: { operation: 'read', request_sha256: '', sent_at: at },
        };
    }
  }

  private now(): string {
    return instantFromNanos(this.clock.epochNanos());
  }
}

interface Frame {
  readonly type: string;
  readonly subscription_id?: string;
  readonly seq?: number;
  readonly resume_token?: string;
  readonly reason?: string;
  readonly more?: boolean;
  readonly fill_id?: string;
  readonly order_id?: string;
  readonly order?: { readonly order_id: string; readonly version: number; readonly exchange_id: string };
  readonly orders?: readonly { readonly order_id: string; readonly version: number }[];
}

/** What a client knows of one subscription. Checks that no frame is repeated, missing or wrong. */
class SubscriptionCheck {
  seq: number | undefined;
  readonly known = new Map<string, number>();
  private readonly fills = new Set<string>();
  private fillOf: string | undefined;
  private isSnapshotOpen = false;

  constructor(private readonly world: World) {}

  hear(frame: Frame): void {
    if (frame.type === 'snapshot') this.begin(frame);
    else this.goOn(frame);
  }

  /** A snapshot that was cut off is sent again from its beginning. */
  resync(): void {
    this.isSnapshotOpen = false;
  }

  private begin({ seq, orders = [], more }: Frame): void {
    // A repeated snapshot keeps counting.
    expect(seq).toBe(this.seq ?? 0);
    this.seq = seq;
    if (!this.isSnapshotOpen) this.known.clear();
    this.fillOf = undefined;
    for (const { order_id: id, version } of orders) {
      this.known.set(id, version);
      const record = orders.find(({ order_id }) => order_id === id);
      this.expectRecord(id, version, record);
    }
    this.isSnapshotOpen = more === true;
  }

  private goOn({ seq, type, order, fill_id: fill = '', order_id: fillOf }: Frame): void {
    expect(seq).toBe((this.seq ?? 0) + 1);
    this.seq = seq;
    if (type === 'fill') {
      expect([this.fillOf, this.fills.has(fill)]).toEqual([undefined, false]);
      this.fills.add(fill);
      this.fillOf = fillOf;
      return;
    }
    const { order_id: id, version } = order!;
    expect(this.fillOf ?? id).toBe(id);
    this.fillOf = undefined;
    const before = this.known.get(id) ?? (this.wasOver(id, version - 1) ? version - 1 : 0);
    expect([id, version]).toEqual([id, before + 1]);
    this.known.set(id, version);
    this.expectRecord(id, version, order);
  }

  /** An order that was over when the subscription began. */
  private wasOver(id: string, version: number): boolean {
    return this.world.versions.get(id)?.[version - 1]?.isOver === true;
  }

  private expectRecord(id: string, version: number, record: unknown): void {
    expect(record).toEqual(this.world.versions.get(id)?.[version - 1]?.record);
  }
}

class Gateway {
  readonly faults: unknown[] = [];
  readonly feed: CellFeed;
  private readonly ports: SocketPorts;

  constructor(
    private readonly world: World,
    beforePast: () => Promise<void> = () => Promise.resolve(),
  ) {
    const { clock, store } = world;
    const onFault = (error: unknown): void => void this.faults.push(error);
    this.feed = new CellFeed({ reader: store, clock, cells: 1, onFailure: onFault });
    const journaled = new JournalUserEvents(store, 1e6);
    const events: UserEvents = {
      ofOrder: (...asked) => journaled.ofOrder(...asked),
      after: async (...asked) => {
        await beforePast();
        return journaled.after(...asked);
      },
    };
    const own = { clock, limits: LIMITS, onFault, events };
    const folds = new UserFolds({
      ...{ ...own, feed: this.feed, cellOf: () => 0 },
      liveOrders: async (user) => ({
        position: await world.head(),
        orders: [...world.orders.values()].filter(
          (state) => state.terms.user_id === user && !isTerminal(state),
        ),
      }),
    });
    this.ports = {
      ...{ ...own, folds, tokens: TOKENS, venues: VENUES, newId: randomUUID },
      sessions: { checkOf: (token) => () => sessionOf(token) },
      commands: { run: () => Promise.resolve({ status: 200, body: '{}' }) },
      access: { enabled: () => true },
      presence: { begun: () => undefined, ended: () => undefined },
      meter: {
        ...{ opened: () => undefined, closed: () => undefined, received: () => undefined },
        ...{ resumed: () => undefined, resynced: () => undefined },
      },
    };
  }

  async takeIn(): Promise<void> {
    this.feed.hear(0, { head: await this.world.head() });
    await settled();
  }

  connect(socket: TestSocket): SocketConnection {
    return openConnection(this.ports, new Set(), socket, { token: 'ada', session: sessionOf('ada') });
  }
}

function sessionOf(account: string): ClientSession<StreamCaller> {
  return {
    principal: { account_id: account, address: '127.0.0.1', scopes: new Set(['trade:read'] as const) },
    expiresAt: 4_000_000_000,
  };
}

/** A client of user ada that reconnects with its latest token and its `seen` numbers. */
class Client {
  readonly heard = new Map<string, SubscriptionCheck>();
  readonly resyncs = new Set<string>();
  private token: string | undefined;
  private socket: TestSocket | undefined;
  private connection: SocketConnection | undefined;
  private asked = 0;

  constructor(private readonly world: World) {}

  async connect(gateway: Gateway): Promise<void> {
    this.disconnect();
    this.socket = new TestSocket(true);
    this.connection = gateway.connect(this.socket);
    const seen = Object.fromEntries([...this.heard].map(([id, { seq = 0 }]) => [id, seq]));
    // Without a token the earlier subscriptions are gone.
    if (this.token === undefined) this.heard.clear();
    await this.say('hello', this.token === undefined ? {} : { resume_token: this.token, seen });
  }

  async say(op: string, fields: object): Promise<void> {
    this.asked += 1;
    this.connection?.onText(JSON.stringify({ op, req_id: `${this.asked}`, ...fields }));
    await settled();
  }

  async read(frames: number): Promise<boolean> {
    for (let frame = 0; frame < frames; frame += 1) {
      const text = this.socket?.read();
      await settled();
      if (text === undefined) return false;
      this.hear(JSON.parse(text) as Frame);
    }
    return true;
  }

  disconnect(): void {
    this.connection?.onClosed(1006);
    this.connection = undefined;
    this.socket = undefined;
  }

  tick(): void {
    this.connection?.tick();
  }

  get closedWith(): number | undefined {
    return this.socket?.closedWith;
  }

  private hear(frame: Frame): void {
    if (frame.resume_token !== undefined) this.token = frame.resume_token;
    const { subscription_id: id, type } = frame;
    if (type === 'resync') this.resyncs.add(frame.reason ?? '');
    if (id === undefined) return;
    const known = this.heard.get(id) ?? new SubscriptionCheck(this.world);
    this.heard.set(id, known);
    if (type === 'resync') known.resync();
    else if (frame.seq !== undefined) known.hear(frame);
  }
}

async function play(steps: readonly Step[]): Promise<void> {
  const clock = new SteppedClock();
  const world = new World(clock);
  await world.accept('ada', 'venue_b');
  const gateways = [new Gateway(world), new Gateway(world)];
  for (const gateway of gateways) await gateway.feed.start();
  const client = new Client(world);
  for (const one of steps) await perform(one, world, gateways, client);
  for (const gateway of gateways) await gateway.takeIn();
  await client.connect(gateways[0]!);
  await client.say('subscribe', { channel: 'orders' });
  for (let round = 0; round < 3; round += 1) {
    clock.pass(60);
    client.tick();
    while (await client.read(1));
  }
  for (const gateway of gateways) {
    await gateway.feed.stop();
    expect(gateway.faults).toEqual([]);
  }
  expect(client.closedWith).toBeUndefined();
  // The last version seen must be the one at the end of the journal.
  expect(client.heard.size).toBeGreaterThan(0);
  for (const { known } of client.heard.values())
    for (const [id, version] of known) expect([id, version]).toEqual([id, world.orders.get(id)?.version]);
  const last = [...client.heard.values()].at(-1)?.known;
  const live = [...world.orders.values()].filter(
    (state) => state.terms.user_id === 'ada' && !isTerminal(state),
  );
  expect(live.filter(({ terms }) => last?.has(terms.order_id) !== true)).toEqual([]);
  expect([...client.resyncs].filter((reason) => reason !== 'SNAPSHOT_INCOMPLETE')).toEqual([]);
}

async function perform(one: Step, world: World, gateways: readonly Gateway[], client: Client): Promise<void> {
  switch (one.do) {
    case 'accept':
      return world.accept(USERS[one.user]!, VENUES[one.venue]!);
    case 'change':
      return world.change(one.order, one.change);
    case 'take in':
      return gateways[one.gateway]!.takeIn();
    case 'connect':
      return client.connect(gateways[one.gateway]!);
    case 'subscribe':
      return client.say('subscribe', {
        channel: 'orders',
        ...(one.venue === undefined ? {} : { exchange_ids: [VENUES[one.venue]] }),
      });
    case 'disconnect':
      client.disconnect();
      return;
    case 'read':
      await client.read(one.frames);
      return;
    case 'pass':
      await world.clock.passSettling(one.millis, settled);
      client.tick();
      await settled();
  }
}

jest.setTimeout(120_000);

it('through any reconnects a client sees every version once and in order, fills first, without a gap in seq', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), play), { numRuns: 300 });
});

it('a gateway that replays events beyond its own feed position does not send them again', async () => {
  const clock = new SteppedClock();
  const world = new World(clock);
  await world.accept('ada', 'venue_b');
  const early = new Gateway(world);
  // Started late: while it reads the missed events, more happens that its feed has not received.
  let more = 3;
  const late = new Gateway(world, async () => {
    if (more-- > 0) await world.change(0, 'AMEND');
  });
  await early.feed.start();
  const client = new Client(world);
  await client.connect(early);
  await client.say('subscribe', { channel: 'orders' });
  await client.read(12);
  client.disconnect();
  for (const change of CHANGES.slice(0, 4)) await world.change(0, change);
  await late.feed.start();
  await client.connect(late);
  await client.read(12);
  await late.takeIn();
  await world.change(0, 'STALL');
  await late.takeIn();
  while (await client.read(1));
  for (const { known } of client.heard.values())
    expect(known.get('o0')).toBe(world.orders.get('o0')?.version);
  expect(more).toBeLessThan(3);
  for (const gateway of [early, late]) await gateway.feed.stop();
});
