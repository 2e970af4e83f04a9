import { NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import type { Host } from '../kernel/host.js';
import type { Random } from '../kernel/random.js';
import type { DisclosedNames } from '../oracle/names.js';
import type { Oracle } from '../oracle/oracle.js';
import { mustHaveGone } from '../oracle/lost-streams.js';
import { must } from '../oracle/violation.js';
import { streamAddress } from '../processes/gateway.js';
import type { World } from '../processes/world.js';
import type { TwinTranscript } from '../twins/transcript.js';
import type { WireEnd } from '../wire/wire-end.js';
import { nameOf } from './cast.js';
import { SubscriptionRecord, type ToldEvent, type ToldView, type Wish } from './subscription-record.js';

interface Said {
  readonly type: string;
  readonly cmd_id?: string;
  readonly subscription_id?: string;
  readonly resumed?: boolean;
  readonly resume_token?: string;
  readonly resume_error?: string;
  readonly connection_id?: string;
  readonly subscriptions?: readonly { readonly subscription_id: string }[];
  readonly auctions?: readonly ToldView[];
  readonly more?: boolean;
  readonly status?: number;
  readonly result?: object;
  readonly error?: string;
  readonly message?: string;
  readonly reason?: string;
}

export type StreamAnswer = { readonly status: number; readonly body: string } | undefined;
type Callback = (answer: StreamAnswer) => void;

const RECONNECT_MILLIS = { soonest: 1, least: 20, most: 900 };
const PING_MILLIS = 8_000;
const TOO_SLOW = 4431;
const JUST_NOW_NANOS = 1_000 * NANOS_PER_MILLI;
const RESUMED = 'streams can be resumed anywhere';

/** A user's stream client. It resumes at any gateway with its token, and remembers what it was sent. */
export class StreamViewer {
  readonly records = new Map<string, SubscriptionRecord>();
  /** Counts of what its connections have met. */
  readonly met = new Map<string, number>();
  private cameEarly = false;
  private end: WireEnd | undefined;
  private isWelcome = false;
  private token: string | undefined;
  private connectionId: string | undefined;
  private commands = 0;
  private readonly waiting = new Map<string, { readonly type: string; readonly callback: Callback }>();
  private readonly wishes = new Map<string, Wish>();
  /** Subscriptions that its token does not contain yet, so they may be lost on resuming. */
  private readonly young = new Set<string>();

  /** The last loss of the stream, and when it ended. */
  private away: { readonly from: number; to?: number } | undefined;

  /** How long it stays away after the next loss. */
  private awayMillis = 0;

  constructor(
    private readonly world: World,
    private readonly host: Host,
    readonly account: string,
    private readonly options: {
      readonly random: Random;
      readonly oracle: Oracle;
      readonly gateways: readonly string[];
      readonly transcript: TwinTranscript | undefined;
      readonly graceMillis: number | undefined;
      readonly isCalm: boolean;
      readonly names: DisclosedNames;
      readonly onTold: (auctionId: string, place: number) => void;
    },
  ) {}

  /** How long the stream has been away, or was until a moment ago, in milliseconds; undefined if it was not. */
  absence(connectionId: string): number | undefined {
    const { now } = this.world.scheduler;
    const { from, to = now } = this.away ?? { from: Infinity };
    if (connectionId !== this.connectionId || now - to > JUST_NOW_NANOS) return undefined;
    return from > now ? undefined : (to - from) / NANOS_PER_MILLI;
  }

  get isReady(): boolean {
    return (
      this.isWelcome && this.records.size > 0 && [...this.records.values()].every((record) => record.hasBegun)
    );
  }

  connect(): void {
    const { random, gateways, graceMillis } = this.options;
    const gateway = random.pick(gateways);
    const end = this.world.network.connect(
      this.host,
      streamAddress(gateway),
      { account: this.account },
      false,
    );
    this.end = end;
    this.isWelcome = false;
    const seen = Object.fromEntries([...this.records].map(([id, { last }]) => [id, last]));
    end.onOpen = () => {
      this.cameEarly = this.isAheadOf(gateway);
      this.say('hello', {
        ...(this.token === undefined ? {} : { resume_token: this.token, seen }),
        ...(graceMillis === undefined ? {} : { cancel_on_disconnect: { grace_ms: graceMillis } }),
      });
      this.pingSoon(end);
    };
    end.onText = (text) => {
      if (this.end !== end) return;
      this.options.names.check(this.account, text);
      const said = JSON.parse(text) as Said & ToldEvent;
      if (said.type !== 'heartbeat' && said.type !== 'pong') {
        this.options.transcript?.note(this.account, 'stream', text, this.world.scheduler.now);
      }
      this.hear(said, gateway);
    };
    end.onClose = (code) => {
      if (this.end === end) this.lost(code);
    };
  }

  /** Breaks its connection to the gateway. */
  drop(): void {
    this.end?.reset();
  }

  /** Like `drop`, but it stays away for this long. False if it is already away. */
  stayAway(millis: number): boolean {
    if (this.end === undefined) return false;
    this.awayMillis = millis;
    this.drop();
    return true;
  }

  /** Stops reading its socket for a while. */
  stopReading(): void {
    this.end?.stopReading();
  }

  readOn(): void {
    this.end?.readOn();
  }

  /** Whether the command was sent. Its result comes once, even if it says that there is no answer. */
  command(type: string, fields: object, callback: Callback): boolean {
    if (!this.isWelcome || this.end?.state !== 'OPEN') return false;
    this.waiting.set(this.say(type, fields), { type, callback });
    return true;
  }

  /** Subscribes to one more auction, if it is connected. */
  follow(auctionId: string, afterSeq: number | undefined): void {
    if (!this.isReady || this.end?.state !== 'OPEN') return;
    const behind = afterSeq === undefined ? {} : { after_seq: afterSeq };
    const cmdId = this.say('subscribe', { channel: 'auction', auction_id: auctionId, ...behind });
    this.wishes.set(cmdId, { auctionId, afterSeq });
  }

  /** Whether it was sent all lines of its account's timelines. */
  get hasAll(): boolean {
    return [...this.records.values()].every((record) => record.isComplete());
  }

  checkAtRest(): void {
    for (const record of this.records.values()) record.checkAtRest();
  }

  private say(type: string, fields: object): string {
    this.commands += 1;
    const cmdId = `c${this.commands}`;
    this.end?.send(JSON.stringify({ type, cmd_id: cmdId, ...fields }));
    return cmdId;
  }

  private hear(said: Said & ToldEvent, gateway: string): void {
    const { type, subscription_id: id = '', cmd_id: cmdId = '' } = said;
    if (type === 'welcome') this.welcome(said, gateway);
    else if (type === 'subscribed') this.subscribed(id, cmdId);
    else if (type === 'snapshot') this.record(id).snapshot(said.auctions ?? [], said.more === true);
    else if (type === 'event') this.told(id, said);
    else if (type === 'resync') this.resync(said);
    else if (type === 'ack' || type === 'reject') this.answered(cmdId, said);
    if (said.resume_token === undefined) return;
    this.token = said.resume_token;
    this.young.clear();
  }

  private told(id: string, event: ToldEvent): void {
    this.record(id).event(event);
    this.options.onTold(event.auction_id, event.timeline_seq);
  }

  private welcome(said: Said, gateway: string): void {
    this.isWelcome = true;
    this.world.trace.note(`${nameOf(this.account)}: stream at ${gateway}, resumed ${String(said.resumed)}`);
    must(
      said.resumed === (this.token !== undefined),
      RESUMED,
      () => `${nameOf(this.account)}: ${said.resume_error ?? 'not resumed'}`,
    );
    if (said.resumed) {
      this.count('resumed');
      if (this.cameEarly) this.count('waited for its gateway');
      // The gateway has read all that it knew: the remaining events are taken on trust.
      if (this.isAheadOf(gateway)) this.count('believed');
      this.backAgain();
      for (const id of this.young) this.records.delete(id);
      this.young.clear();
      const told = (said.subscriptions ?? []).map(({ subscription_id: id }) => id).sort();
      must(
        said.connection_id === this.connectionId,
        RESUMED,
        () => `${nameOf(this.account)} has another connection`,
      );
      must(
        told.join() === [...this.records.keys()].sort().join(),
        RESUMED,
        () => `${nameOf(this.account)} has ${told.join()}`,
      );
      return;
    }
    this.connectionId = said.connection_id;
    // The earlier connection was lost before it was welcomed, so this one has never been away.
    this.away = undefined;
    this.records.clear();
    this.young.clear();
    this.say('subscribe', { channel: 'auctions' });
  }

  private backAgain(): void {
    const { oracle, isCalm, graceMillis } = this.options;
    if (this.away === undefined) return;
    this.away.to = this.world.scheduler.now;
    const millis = (this.away.to - this.away.from) / NANOS_PER_MILLI;
    if (isCalm && graceMillis !== undefined)
      mustHaveGone(oracle.archive, {
        connectionId: this.connectionId ?? '',
        awayMillis: millis,
        graceMillis,
        servesFor: (shard) => oracle.servesFor(shard),
      });
  }

  private subscribed(id: string, cmdId: string): void {
    const name = `${nameOf(this.account)}/${id}`;
    const wish = this.wishes.get(cmdId);
    this.records.set(id, new SubscriptionRecord(this.options.oracle, this.account, name, wish));
    this.young.add(id);
    if (wish !== undefined) this.count('single');
  }

  /** Whether it was sent something elsewhere that this gateway has not read yet. */
  private isAheadOf(gateway: string): boolean {
    const there = this.world.feeds.get(gateway)?.() ?? [];
    return [...this.records.values()].some(({ positions }) =>
      positions.some((position, shard) => position > (there[shard] ?? 0)),
    );
  }

  /** A client that states its position truly must never get a resync because of it. */
  private resync({ subscription_id: id = '', reason }: Said): void {
    must(reason !== 'HISTORY_GONE', RESUMED, () => `${nameOf(this.account)}/${id}: ${reason ?? ''}`);
    if (reason === 'SLOW_READER') this.count('slow reader shown the present');
    this.record(id).resync();
  }

  private count(what: string): void {
    this.met.set(what, (this.met.get(what) ?? 0) + 1);
  }

  private answered(cmdId: string, { status = 0, result, error, message }: Said): void {
    const asked = this.waiting.get(cmdId);
    this.waiting.delete(cmdId);
    if (asked !== undefined && result !== undefined) this.count(`has done ${asked.type}`);
    const refusal = { error, ...(message === undefined ? {} : { message }) };
    asked?.callback({ status, body: JSON.stringify(result ?? refusal) });
  }

  private lost(code: number): void {
    if (this.away?.to !== undefined || this.away === undefined)
      this.away = { from: this.world.scheduler.now };
    this.end = undefined;
    this.isWelcome = false;
    if (code === TOO_SLOW) this.count('slow reader closed');
    this.world.trace.note(`${nameOf(this.account)}: stream lost, ${code}`);
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    this.wishes.clear();
    for (const { callback } of waiting) callback(undefined);
    const { random } = this.options;
    const { least, most, soonest } = RECONNECT_MILLIS;
    const wait =
      (this.awayMillis + (random.chance(0.5) ? soonest : random.between(least, most))) * NANOS_PER_MILLI;
    this.awayMillis = 0;
    this.world.scheduler.after(wait, this.host, () => this.connect());
  }

  private pingSoon(end: WireEnd): void {
    this.world.scheduler.after(PING_MILLIS * NANOS_PER_MILLI, this.host, () => {
      if (this.end !== end || end.state !== 'OPEN') return;
      this.say('ping', {});
      this.pingSoon(end);
    });
  }

  private record(id: string): SubscriptionRecord {
    const record = this.records.get(id);
    must(record !== undefined, 'streams are dense', () => `there is no subscription ${id}`);
    return record;
  }
}
