import { NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import type { Random } from '../kernel/random.js';
import type { Oracle } from '../oracle/oracle.js';
import type { PageRow } from '../oracle/pages.js';
import { Readings, type ObservedReading } from '../oracle/readings.js';
import { must } from '../oracle/violation.js';
import type { PlannedAction } from '../plan/plan.js';
import type { HttpRequest } from '../processes/http-desk.js';
import type { World } from '../processes/world.js';
import type { TwinTranscript } from '../twins/transcript.js';
import type { SimulatedCaller } from './caller.js';
import type { KnownAuction } from './knowledge.js';

const AGAIN_MILLIS = 300;
const MOST_LINES = 1_000;
const MOST_ROWS = 50;
const STATUSES = ['ACTIVE', 'WITHDRAWN', 'EXPIRED', 'SETTLED', 'NOT_AWARDED', 'RELEASED'] as const;
const KINDS = ['LIST', 'QUOTES', 'VIEW', 'TIMELINE', 'OWN_QUOTES', 'PREFLIGHT'] as const;
const OF_ONE = ['VIEW', 'TIMELINE', 'OWN_QUOTES'] as const;
/** The share of notifications that lead to a read. */
const LOOKS = 0.2;

type Kind = (typeof KINDS)[number];
type Request = Omit<HttpRequest, 'id'>;
type Callback = (status: number, body: string) => void;

interface ReaderParts {
  readonly world: World;
  readonly oracle: Oracle;
  readonly random: Random;
  readonly gateways: readonly string[];
  readonly transcript: TwinTranscript | undefined;
  readonly callerOf: (account: string) => SimulatedCaller;
}

interface PageAsked {
  readonly account: string;
  readonly kind: 'LIST' | 'QUOTES';
  readonly limit: number;
  readonly status?: string;
}

/** All reads, each compared with the journals. */
export class Reader {
  reads = 0;
  private readonly readings: Readings;

  constructor(private readonly parts: ReaderParts) {
    const { archive, owners } = parts.oracle;
    this.readings = new Readings(archive, owners);
  }

  /** One read of any kind; of `auction` if the kind needs one and there is one. */
  read({ account, act, key }: PlannedAction, random: Random, auction: KnownAuction | undefined): void {
    const gateway = random.pick(this.parts.gateways);
    const limit = random.between(1, 50);
    const kind = act === 'LIST' ? act : random.pick(KINDS);
    const callback = (status: number, body: string): void => {
      this.parts.transcript?.note(account, key, `${status} ${body}`, this.parts.world.scheduler.now);
    };
    const own = random.fork('pages');
    if (kind === 'LIST' || kind === 'QUOTES')
      this.ask(gateway, { account, kind, auctionId: '', limit, ...statusFor(kind, own) }, callback);
    else if (kind === 'TIMELINE' && auction !== undefined && own.chance(0.5)) {
      const page = { afterSeq: own.below(6), limit: own.between(1, 4) };
      this.ask(gateway, { account, kind, auctionId: auction.id, ...page }, callback);
    } else if (kind === 'PREFLIGHT' && auction !== undefined) {
      const body = {
        price_atoms: 500_000 - (500_000 % auction.tick),
        max_executable_quantity_atoms: auction.step,
      };
      this.ask(gateway, { account, kind, auctionId: auction.id, body }, callback);
    } else if (auction !== undefined) this.ask(gateway, { account, kind, auctionId: auction.id }, callback);
  }

  /** The account reads everything from each gateway. */
  lookEverywhere(account: string): void {
    const { gateways, transcript } = this.parts;
    if (transcript !== undefined) return;
    for (const gateway of gateways)
      this.ask(gateway, { account, kind: 'LIST', auctionId: '', limit: MOST_ROWS });
  }

  /** The account was notified over its stream, and reads the auction or its lists. */
  look(account: string, auctionId: string, place: number): void {
    const { random, transcript, gateways } = this.parts;
    // Twins are compared by what they read at the same time, so extra reads are left out.
    if (transcript !== undefined) return;
    const own = random.fork(`look ${account} ${auctionId} ${place}`);
    if (!own.chance(LOOKS)) return;
    const gateway = own.pick(gateways);
    if (own.chance(0.5)) this.ask(gateway, { account, kind: own.pick(OF_ONE), auctionId });
    else
      this.ask(gateway, {
        account,
        kind: own.pick(['LIST', 'QUOTES'] as const),
        auctionId: '',
        limit: own.between(1, 50),
      });
  }

  /** Every account reads everything again; calls back once all answers were right. */
  readAll(accounts: readonly string[], done: () => void): void {
    const asked = [...this.parts.oracle.files.values()].flatMap(({ id, stories }) =>
      [...stories.keys()].map((account) => ({ id, account })),
    );
    let left = 4 * asked.length + 3 * accounts.length;
    const oneLess = (): void => {
      left -= 1;
      if (left === 0) done();
    };
    for (const { id, account } of asked) {
      for (const kind of OF_ONE) this.insist({ account, kind, auctionId: id }, oneLess);
      this.leaf({ account, auctionId: id, limit: this.parts.random.between(1, 5) }, oneLess);
    }
    for (const account of accounts) {
      const limit = this.parts.random.between(1, 10);
      for (const kind of ['LIST', 'QUOTES'] as const) this.pageOn({ account, kind, limit }, oneLess);
      const status = this.parts.random.pick(STATUSES);
      this.pageOn({ account, kind: 'QUOTES', limit, status }, oneLess);
    }
  }

  private ask(gateway: string, wanted: Wanted, callback: Callback = () => undefined): void {
    const { world, callerOf } = this.parts;
    const askedAt = world.scheduler.now / NANOS_PER_MILLI;
    this.reads += 1;
    callerOf(wanted.account).ask(gateway, requestFor(wanted), (answer) => {
      if (answer === undefined) return;
      callback(answer.status, answer.body);
      this.check(wanted.kind, { ...readingOf(wanted), status: answer.status, body: answer.body, askedAt });
    });
  }

  /** No faults remain, but a process may still be starting. */
  private insist(wanted: Wanted, callback: (body: string) => void): void {
    const { world, random, gateways, callerOf } = this.parts;
    const { account, kind } = wanted;
    callerOf(account).ask(random.pick(gateways), requestFor(wanted), (answer) => {
      if (answer?.status === 200) {
        const { status, body } = answer;
        this.check(kind, { ...readingOf(wanted), status, body, askedAt: undefined });
        callback(body);
      } else if (answer === undefined || answer.status === 503) {
        world.scheduler.after(AGAIN_MILLIS * NANOS_PER_MILLI, undefined, () => this.insist(wanted, callback));
      } else
        must(false, 'at rest everything is read', () => `${account} gets ${answer.status} ${answer.body}`);
    });
  }

  private pageOn(asked: PageAsked, done: () => void, cursor?: Cursor): void {
    this.insist({ ...asked, auctionId: '', ...(cursor === undefined ? {} : { cursor }) }, (body) => {
      const { next_cursor: next } = JSON.parse(body) as { readonly next_cursor?: string };
      if (next === undefined) done();
      else this.pageOn(asked, done, cursorOf(next));
    });
  }

  /** Reads a timeline page by page, from its first line to its last. */
  private leaf(asked: Pick<Wanted, 'account' | 'auctionId' | 'limit'>, done: () => void, afterSeq = 0): void {
    this.insist({ ...asked, kind: 'TIMELINE', afterSeq }, (body) => {
      const { next_after_seq: next } = JSON.parse(body) as { readonly next_after_seq?: number };
      if (next === undefined) done();
      else this.leaf(asked, done, next);
    });
  }

  private check(kind: Kind, reading: ObservedReading): void {
    const { readings } = this;
    if (kind === 'LIST') readings.list(reading);
    else if (kind === 'QUOTES') readings.quotes(reading);
    else if (kind === 'VIEW') readings.view(reading);
    else if (kind === 'TIMELINE') readings.timeline(reading);
    else if (kind === 'OWN_QUOTES') readings.ownQuotes(reading);
    else readings.preflight(reading);
  }
}

interface Cursor {
  readonly o?: string;
  readonly s?: string;
  readonly i: string;
}

interface Wanted {
  readonly account: string;
  readonly kind: Kind;
  readonly auctionId: string;
  readonly limit?: number;
  readonly afterSeq?: number;
  readonly status?: string;
  readonly cursor?: Cursor;
  readonly body?: object;
}

const OPERATIONS: Readonly<Record<Kind, string>> = {
  LIST: 'listAuctions',
  QUOTES: 'listQuotes',
  VIEW: 'getAuction',
  TIMELINE: 'listAuctionEvents',
  OWN_QUOTES: 'listAuctionQuotes',
  PREFLIGHT: 'preflightQuote',
};

function requestFor({ kind, auctionId, limit, afterSeq = 0, status, cursor, body }: Wanted): Request {
  const operation = OPERATIONS[kind];
  if (auctionId === '') return { operation, query: { limit, status, cursor } };
  const ids = { auctionID: auctionId };
  if (kind === 'TIMELINE')
    return { operation, ids, query: { after_seq: afterSeq, limit: limit ?? MOST_LINES } };
  return body === undefined ? { operation, ids } : { operation, ids, body };
}

function readingOf({
  account,
  auctionId,
  limit,
  afterSeq,
  status,
  cursor,
}: Wanted): Omit<ObservedReading, 'status' | 'body' | 'askedAt'> {
  const behind: PageRow | undefined = cursor && { at: cursor.o ?? cursor.s ?? '', id: cursor.i };
  return {
    account,
    auctionId,
    ...(limit === undefined ? {} : { limit }),
    ...(afterSeq === undefined ? {} : { afterSeq }),
    ...(status === undefined ? {} : { wanted: status }),
    ...(behind === undefined ? {} : { behind }),
  };
}

/** Sometimes only one status. */
function statusFor(kind: Kind, random: Random): Pick<Wanted, 'status'> {
  return kind === 'QUOTES' && random.chance(0.4) ? { status: random.pick(STATUSES) } : {};
}

/** As in the contract: JSON as base64url. */
function cursorOf(text: string): Cursor {
  return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Cursor;
}
