import fc from 'fast-check';
import { expect, it } from '@jest/globals';
import type { AuctionEvent, DomainEvent, ShardEventBody } from '../../rules/events.js';
import type { ConnectionClaim, ConnectionEnd } from '../../protocol/protocol.js';
import { ConnectionBook, NotedConnections } from './connection-book.js';
import { LEASE_MILLIS } from './connection.js';

const BEAT = 250;
const LONGEST_GRACE = 4_000;
/** Lease, grace and one check: after this, every loss has been noticed. */
const LONG_ENOUGH = LEASE_MILLIS + LONGEST_GRACE + BEAT;
const CONNECTIONS = ['c0', 'c1', 'c2'];
const GATEWAYS = 3;

/** The true state of a connection, whether or not the owner knows it. */
interface Truth {
  /** Where its latest socket is, and until when it existed. */
  gateway: string | undefined;
  lostAt: number;
  attachment: number;
  grace: number | undefined;
  saidBye: boolean;
  quotes: Set<string>;
}

type Action =
  | { act: 'HELLO'; who: number; where: number; grace: number | undefined }
  | { act: 'END' | 'BYE' | 'QUOTE' | 'UNQUOTE'; who: number }
  | { act: 'CRASH'; where: number }
  | { act: 'FALTER'; where: number }
  | { act: 'OWNER_CRASH' }
  | { act: 'PASS'; beats: number };

const who = fc.nat(CONNECTIONS.length - 1);
const where = fc.nat(GATEWAYS - 1);
const grace = fc.option(fc.nat(LONGEST_GRACE), { nil: undefined, freq: 4 });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('HELLO'), who, where, grace }) },
  {
    weight: 8,
    arbitrary: fc.record({ act: fc.constantFrom('END', 'BYE', 'QUOTE', 'QUOTE', 'QUOTE', 'UNQUOTE'), who }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('CRASH', 'FALTER'), where }) },
  { weight: 1, arbitrary: fc.constant({ act: 'OWNER_CRASH' }) },
  { weight: 6, arbitrary: fc.record({ act: fc.constant('PASS'), beats: fc.integer({ min: 1, max: 30 }) }) },
);

/** Gateways, their sockets and one owner. The owner's actions are compared with the true state. */
class World {
  private book = new ConnectionBook();
  private noted = new NotedConnections();
  private now = 0;
  private startedAt = 0;
  private gatewaysStarted = GATEWAYS;
  private readonly gateways = Array.from({ length: GATEWAYS }, (_, index) => `g${index}`);
  /** Gateways whose messages do not get through at present, and what they still have to report. */
  private readonly unreachable = new Map<string, { readonly from: number; readonly until: number }>();
  private readonly unreported = new Map<string, ConnectionEnd[]>();
  private readonly truths = new Map<string, Truth>();
  readonly pulled: string[] = [];

  run(next: Action): void {
    if (next.act === 'PASS') this.pass(next.beats);
    else if (next.act === 'OWNER_CRASH') this.recover();
    else if (next.act === 'HELLO') this.hello(next);
    else if (next.act === 'CRASH') this.crash(next.where);
    else if (next.act === 'FALTER') this.makeUnreachable(this.gateways[next.where]!);
    else if (next.act === 'QUOTE') this.quote(next.who);
    else if (next.act === 'UNQUOTE') this.unquote(next.who);
    else this.ends(CONNECTIONS[next.who]!, next.act === 'BYE' ? 'BYE' : 'LOST');
  }

  /** From here on nothing happens except that gateways are alive. */
  settleAll(): void {
    this.unreachable.clear();
    this.pass(Math.ceil(LONG_ENOUGH / BEAT) + 2);
    for (const [id, truth] of this.truths) {
      const stands = truth.gateway !== undefined || truth.saidBye || truth.grace === undefined;
      if (!stands) expect([id, [...truth.quotes]]).toEqual([id, []]);
    }
  }

  private hello({ who: index, where: place, grace: asked }: Extract<Action, { act: 'HELLO' }>): void {
    const id = CONNECTIONS[index]!;
    const gateway = this.gateways[place]!;
    if (this.unreachable.has(gateway)) return;
    const before = this.truths.get(id);
    const attachment = (before?.attachment ?? 0) + 1;
    const quotes = before?.quotes ?? new Set<string>();
    this.truths.set(id, { gateway, lostAt: 0, attachment, grace: asked, saidBye: false, quotes });
    this.report(gateway, { here: [this.claimOf(id)] });
    // The previous socket ends somewhere, and its gateway reports that later.
    if (before?.gateway !== undefined && before.gateway !== gateway)
      this.report(before.gateway, {
        gone: [{ connection_id: id, attachment: before.attachment, how: 'LOST' }],
      });
  }

  private ends(id: string, how: ConnectionEnd['how']): void {
    const truth = this.truths.get(id);
    if (truth?.gateway === undefined) return;
    const { gateway, attachment } = truth;
    this.lose(truth);
    // A bye that fails to reach the owner in time counts as none.
    truth.saidBye = how === 'BYE' && !this.unreachable.has(gateway);
    this.report(gateway, { gone: [{ connection_id: id, attachment, how: truth.saidBye ? 'BYE' : 'LOST' }] });
  }

  private makeUnreachable(gateway: string): void {
    if (!this.unreachable.has(gateway))
      this.unreachable.set(gateway, { from: this.now, until: this.now + 5_000 });
  }

  private crash(place: number): void {
    const gateway = this.gateways[place]!;
    for (const truth of this.truths.values()) if (truth.gateway === gateway) this.lose(truth);
    this.unreachable.delete(gateway);
    this.unreported.delete(gateway);
    this.gateways[place] = `g${this.gatewaysStarted}`;
    this.gatewaysStarted += 1;
  }

  private lose(truth: Truth): void {
    const silence = this.unreachable.get(truth.gateway ?? '');
    truth.gateway = undefined;
    // For the owner it may have been lost earlier: when its gateway's lease expired, or when the owner started without hearing of
    // it.
    const lapsedAt = silence === undefined ? this.now : silence.from - BEAT + LEASE_MILLIS;
    const unheardAt = silence === undefined || silence.from > this.startedAt ? this.now : this.startedAt;
    truth.lostAt = Math.min(this.now, lapsedAt, unheardAt);
  }

  private quote(index: number): void {
    const id = CONNECTIONS[index]!;
    const truth = this.truths.get(id);
    if (truth?.gateway === undefined || this.unreachable.has(truth.gateway)) return;
    this.report(truth.gateway, {});
    const note = this.book.noteBeforeQuote(id, id);
    if (note !== undefined) this.journal(note);
    const auction = `auction-${truth.quotes.size}`;
    truth.quotes.add(auction);
    this.book.entered(id, id, auction, this.now);
    this.settle();
  }

  private unquote(index: number): void {
    const id = CONNECTIONS[index]!;
    const [auction] = this.truths.get(id)?.quotes ?? [];
    if (auction === undefined) return;
    this.truths.get(id)?.quotes.delete(auction);
    this.book.left(id, auction);
  }

  private report(gateway: string, reported: { here?: ConnectionClaim[]; gone?: ConnectionEnd[] }): void {
    if (this.unreachable.has(gateway)) {
      this.unreported.set(gateway, [...(this.unreported.get(gateway) ?? []), ...(reported.gone ?? [])]);
      return;
    }
    const gone = [...(this.unreported.get(gateway) ?? []), ...(reported.gone ?? [])];
    const { here = [] } = reported;
    const request = { op: 'presence', gateway, whole: false, here, gone } as const;
    if (this.book.presence(request, this.now) === 'UNKNOWN')
      this.book.presence({ ...request, whole: true, here: this.allAt(gateway) }, this.now);
    this.unreported.delete(gateway);
    this.settle();
  }

  private allAt(gateway: string): ConnectionClaim[] {
    return CONNECTIONS.filter((id) => this.truths.get(id)?.gateway === gateway).map((id) => this.claimOf(id));
  }

  private claimOf(id: string): ConnectionClaim {
    const { attachment, grace: asked } = this.truths.get(id)!;
    const watch = asked === undefined ? {} : { grace_ms: asked };
    return { connection_id: id, account: id, attachment, ...watch };
  }

  private pass(beats: number): void {
    for (let beat = 0; beat < beats; beat += 1) {
      this.now += BEAT;
      for (const [gateway, { until }] of this.unreachable)
        if (until <= this.now) this.unreachable.delete(gateway);
      for (const gateway of this.gateways) this.report(gateway, {});
      this.book.tick(this.now);
      this.settle();
      for (const [id, auctions] of this.book.forfeits(this.now)) this.pull(id, auctions);
    }
  }

  private pull(id: string, auctions: readonly string[]): void {
    const truth = this.truths.get(id)!;
    const { gateway, saidBye, grace: asked = Infinity } = truth;
    // A gateway whose messages do not get through for longer than a lease counts as gone.
    if (gateway !== undefined) expect(this.unreachable.has(gateway)).toBe(true);
    else expect(this.now - truth.lostAt).toBeGreaterThanOrEqual(asked);
    expect(saidBye).toBe(false);
    expect(asked).toBeLessThan(Infinity);
    expect(auctions).toEqual([...truth.quotes]);
    this.book.pulled(id);
    for (const auction of auctions) this.book.left(id, auction);
    truth.quotes.clear();
    this.pulled.push(id);
  }

  private recover(): void {
    this.startedAt = this.now;
    this.book = new ConnectionBook();
    this.book.recovered(this.noted.all(), this.now);
    for (const [id, { quotes }] of this.truths)
      for (const auction of quotes) this.book.entered(id, id, auction, this.now);
    expect(this.book.owesNotes).toBe(false);
  }

  /** Journals everything that is owed. The journal then has the truth about all connections with quotes. */
  private settle(): void {
    while (this.book.owesNotes) for (const note of this.book.takeNotes(2)) this.journal(note);
  }

  private journal(note: ShardEventBody): void {
    const event: Exclude<DomainEvent, AuctionEvent> = { ...note, version: 1, at: '' };
    this.noted.note(event);
  }

  /** Compares the journal's notes with the true state. */
  checksJournal(): void {
    for (const [id, { quotes, grace: asked, saidBye, gateway }] of this.truths) {
      if (quotes.size === 0 || (gateway !== undefined && this.unreachable.has(gateway))) continue;
      expect([id, this.noted.all().get(id)?.graceMillis]).toEqual([id, saidBye ? undefined : asked]);
    }
  }
}

it('quotes are withdrawn with their connection, after its grace and not before, whatever happens to gateways and owner', () => {
  const pulls: number[] = [];
  fc.assert(
    fc.property(fc.array(action, { minLength: 30, maxLength: 60, size: 'max' }), (actions) => {
      const world = new World();
      for (const next of actions) {
        world.run(next);
        world.checksJournal();
      }
      world.settleAll();
      pulls.push(world.pulled.length);
    }),
    { numRuns: 400 },
  );
  // Enough runs had withdrawals.
  expect(pulls.filter((count) => count > 0).length).toBeGreaterThan(50);
});
