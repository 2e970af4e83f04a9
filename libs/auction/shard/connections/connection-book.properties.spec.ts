import fc from 'fast-check';
import { expect, it } from '@jest/globals';
import type { AuctionEvent, DomainEvent, ShardEventBody } from '../../rules/events.js';
import type { ConnectionClaim, ConnectionEnd } from '../../protocol/protocol.js';
import { ConnectionBook, NotedConnections } from './connection-book.js';
import { LEASE_MILLIS } from './connection.js';

const BEAT = 250;
const LONGEST_GRACE = 4_000;
/** Lease, grace and a look: by then whatever is lost is noticed. */
const LONG_ENOUGH = LEASE_MILLIS + LONGEST_GRACE + BEAT;
const CONNECTIONS = ['c0', 'c1', 'c2'];
const GATEWAYS = 3;

/** What is true of a connection, whoever has noticed. */
interface Truth {
  /** Where its latest socket is, and until when it was. */
  gateway: string | undefined;
  lostAt: number;
  attachment: number;
  grace: number | undefined;
  saidBye: boolean;
  quotes: Set<string>;
}

type Deed =
  | { act: 'HELLO'; who: number; where: number; grace: number | undefined }
  | { act: 'END' | 'BYE' | 'QUOTE' | 'UNQUOTE'; who: number }
  | { act: 'CRASH'; where: number }
  | { act: 'FALTER'; where: number }
  | { act: 'OWNER_CRASH' }
  | { act: 'PASS'; beats: number };

const who = fc.nat(CONNECTIONS.length - 1);
const where = fc.nat(GATEWAYS - 1);
const grace = fc.option(fc.nat(LONGEST_GRACE), { nil: undefined, freq: 4 });
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('HELLO'), who, where, grace }) },
  {
    weight: 8,
    arbitrary: fc.record({ act: fc.constantFrom('END', 'BYE', 'QUOTE', 'QUOTE', 'QUOTE', 'UNQUOTE'), who }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('CRASH', 'FALTER'), where }) },
  { weight: 1, arbitrary: fc.constant({ act: 'OWNER_CRASH' }) },
  { weight: 6, arbitrary: fc.record({ act: fc.constant('PASS'), beats: fc.integer({ min: 1, max: 30 }) }) },
);

/** Gateways, their sockets and one owner; what the owner does is held against what is true. */
class World {
  private book = new ConnectionBook();
  private noted = new NotedConnections();
  private now = 0;
  private begunAt = 0;
  private lives = GATEWAYS;
  private readonly gateways = Array.from({ length: GATEWAYS }, (_, index) => `g${index}`);
  /** Who does not get a word out at present, and what it has still to say. */
  private readonly faltering = new Map<string, { readonly from: number; readonly until: number }>();
  private readonly unsaid = new Map<string, ConnectionEnd[]>();
  private readonly truths = new Map<string, Truth>();
  readonly pulled: string[] = [];

  does(next: Deed): void {
    if (next.act === 'PASS') this.pass(next.beats);
    else if (next.act === 'OWNER_CRASH') this.recover();
    else if (next.act === 'HELLO') this.hello(next);
    else if (next.act === 'CRASH') this.crash(next.where);
    else if (next.act === 'FALTER') this.falter(this.gateways[next.where]!);
    else if (next.act === 'QUOTE') this.quote(next.who);
    else if (next.act === 'UNQUOTE') this.unquote(next.who);
    else this.ends(CONNECTIONS[next.who]!, next.act === 'BYE' ? 'BYE' : 'LOST');
  }

  /** Nothing more happens but that gateways are alive. */
  rest(): void {
    this.faltering.clear();
    this.pass(Math.ceil(LONG_ENOUGH / BEAT) + 2);
    for (const [id, truth] of this.truths) {
      const stands = truth.gateway !== undefined || truth.saidBye || truth.grace === undefined;
      if (!stands) expect([id, [...truth.quotes]]).toEqual([id, []]);
    }
  }

  private hello({ who: index, where: place, grace: asked }: Extract<Deed, { act: 'HELLO' }>): void {
    const id = CONNECTIONS[index]!;
    const gateway = this.gateways[place]!;
    if (this.faltering.has(gateway)) return;
    const before = this.truths.get(id);
    const attachment = (before?.attachment ?? 0) + 1;
    const quotes = before?.quotes ?? new Set<string>();
    this.truths.set(id, { gateway, lostAt: 0, attachment, grace: asked, saidBye: false, quotes });
    this.tell(gateway, { here: [this.claimOf(id)] });
    // The socket before it ends somewhere, and whoever had it says so in its own time.
    if (before?.gateway !== undefined && before.gateway !== gateway)
      this.tell(before.gateway, {
        gone: [{ connection_id: id, attachment: before.attachment, how: 'LOST' }],
      });
  }

  private ends(id: string, how: ConnectionEnd['how']): void {
    const truth = this.truths.get(id);
    if (truth?.gateway === undefined) return;
    const { gateway, attachment } = truth;
    this.lose(truth);
    // A bye that the owner cannot hear in time is as good as none to it.
    truth.saidBye = how === 'BYE' && !this.faltering.has(gateway);
    this.tell(gateway, { gone: [{ connection_id: id, attachment, how: truth.saidBye ? 'BYE' : 'LOST' }] });
  }

  private falter(gateway: string): void {
    if (!this.faltering.has(gateway))
      this.faltering.set(gateway, { from: this.now, until: this.now + 5_000 });
  }

  private crash(place: number): void {
    const gateway = this.gateways[place]!;
    for (const truth of this.truths.values()) if (truth.gateway === gateway) this.lose(truth);
    this.faltering.delete(gateway);
    this.unsaid.delete(gateway);
    this.gateways[place] = `g${this.lives}`;
    this.lives += 1;
  }

  private lose(truth: Truth): void {
    const silence = this.faltering.get(truth.gateway ?? '');
    truth.gateway = undefined;
    // To the owner it may have been lost with its gateway's lease already, or when itself began without hearing of it.
    const lapsedAt = silence === undefined ? this.now : silence.from - BEAT + LEASE_MILLIS;
    const unheardAt = silence === undefined || silence.from > this.begunAt ? this.now : this.begunAt;
    truth.lostAt = Math.min(this.now, lapsedAt, unheardAt);
  }

  private quote(index: number): void {
    const id = CONNECTIONS[index]!;
    const truth = this.truths.get(id);
    if (truth?.gateway === undefined || this.faltering.has(truth.gateway)) return;
    this.tell(truth.gateway, {});
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

  private tell(gateway: string, said: { here?: ConnectionClaim[]; gone?: ConnectionEnd[] }): void {
    if (this.faltering.has(gateway)) {
      this.unsaid.set(gateway, [...(this.unsaid.get(gateway) ?? []), ...(said.gone ?? [])]);
      return;
    }
    const gone = [...(this.unsaid.get(gateway) ?? []), ...(said.gone ?? [])];
    const { here = [] } = said;
    const request = { op: 'presence', gateway, whole: false, here, gone } as const;
    if (this.book.presence(request, this.now) === 'UNKNOWN')
      this.book.presence({ ...request, whole: true, here: this.allAt(gateway) }, this.now);
    this.unsaid.delete(gateway);
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
      for (const [gateway, { until }] of this.faltering)
        if (until <= this.now) this.faltering.delete(gateway);
      for (const gateway of this.gateways) this.tell(gateway, {});
      this.book.tick(this.now);
      this.settle();
      for (const [id, auctions] of this.book.forfeits(this.now)) this.pull(id, auctions);
    }
  }

  private pull(id: string, auctions: readonly string[]): void {
    const truth = this.truths.get(id)!;
    const { gateway, saidBye, grace: asked = Infinity } = truth;
    // Who does not get a word out for longer than a lease is as good as gone.
    if (gateway !== undefined) expect(this.faltering.has(gateway)).toBe(true);
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
    this.begunAt = this.now;
    this.book = new ConnectionBook();
    this.book.recovered(this.noted.all(), this.now);
    for (const [id, { quotes }] of this.truths)
      for (const auction of quotes) this.book.entered(id, id, auction, this.now);
    expect(this.book.owesNotes).toBe(false);
  }

  /** Whatever is owed is journaled, and then the journal says what is true of all that has quotes. */
  private settle(): void {
    while (this.book.owesNotes) for (const note of this.book.takeNotes(2)) this.journal(note);
  }

  private journal(note: ShardEventBody): void {
    const event: Exclude<DomainEvent, AuctionEvent> = { ...note, version: 1, at: '' };
    this.noted.note(event);
  }

  /** What the journal alone tells of the watch. */
  checksJournal(): void {
    for (const [id, { quotes, grace: asked, saidBye, gateway }] of this.truths) {
      if (quotes.size === 0 || (gateway !== undefined && this.faltering.has(gateway))) continue;
      expect([id, this.noted.all().get(id)?.graceMillis]).toEqual([id, saidBye ? undefined : asked]);
    }
  }
}

it('quotes go with their connection, after its grace and not before, whatever happens to gateways and owner', () => {
  const pulls: number[] = [];
  fc.assert(
    fc.property(fc.array(deed, { minLength: 30, maxLength: 60, size: 'max' }), (deeds) => {
      const world = new World();
      for (const next of deeds) {
        world.does(next);
        world.checksJournal();
      }
      world.rest();
      pulls.push(world.pulled.length);
    }),
    { numRuns: 400 },
  );
  // The histories are worth telling.
  expect(pulls.filter((count) => count > 0).length).toBeGreaterThan(50);
});
