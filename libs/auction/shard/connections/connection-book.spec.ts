import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ConnectionClaim, ConnectionEnd } from '../../protocol/protocol.js';
import { ConnectionBook, NotedConnections } from './connection-book.js';
import { LEASE_MILLIS } from './connection.js';

const GRACE = 1_000;
const AUCTION = 'an-auction';

let book: ConnectionBook;
let now: number;

beforeEach(() => {
  book = new ConnectionBook();
  now = 0;
});

function claim(attachment = 1, grace = GRACE, connection = 'c'): ConnectionClaim {
  return { connection_id: connection, account: 'mia', attachment, grace_ms: grace };
}

function unwatched(attachment = 1): ConnectionClaim {
  return { connection_id: 'c', account: 'mia', attachment };
}

function end(how: ConnectionEnd['how'], attachment = 1): ConnectionEnd {
  return { connection_id: 'c', attachment, how };
}

function says(
  gateway: string,
  {
    here = [],
    gone = [],
    whole = false,
  }: { here?: ConnectionClaim[]; gone?: ConnectionEnd[]; whole?: boolean },
): string {
  return book.presence({ op: 'presence', gateway, whole, here, gone }, now);
}

/** The connection is claimed at gateway A and has a quote. */
function quoting(asked: ConnectionClaim = claim()): void {
  says('A', { whole: true, here: [asked] });
  quotes();
}

function quotes(account = 'mia', auction = AUCTION): void {
  book.noteBeforeQuote('c', account);
  book.entered('c', account, auction, now);
}

/** Time goes by, in which these gateways renew their leases; what is forfeit at the end of it. */
function after(millis: number, ...alive: string[]): string[] {
  const until = now + millis;
  while (now < until) {
    now = Math.min(until, now + 250);
    for (const gateway of alive) says(gateway, {});
    book.tick(now);
  }
  return book.forfeits(now).map(([id]) => id);
}

describe('a watched connection', () => {
  it('keeps its quotes while its gateway is heard of', () => {
    quoting();
    expect(after(60_000, 'A')).toEqual([]);
  });

  it.each([
    ['at once without grace', claim(1, 0), 0],
    ['after its grace', claim(1, GRACE), GRACE],
  ])('that is lost gives them up %s, and not before', (_when, asked, grace) => {
    quoting(asked);
    says('A', { gone: [end('LOST')] });
    if (grace > 0) expect(after(grace - 1, 'A')).toEqual([]);
    expect(after(grace > 0 ? 1 : 0, 'A')).toEqual(['c']);
    expect(book.isForfeit('c', now)).toBe(true);
  });

  it('gives them up once, and each quote that comes later too', () => {
    quoting();
    says('A', { gone: [end('LOST')] });
    expect(after(GRACE, 'A')).toEqual(['c']);
    book.pulled('c');
    expect(after(1_000, 'A')).toEqual([]);
    quotes('mia', 'another-auction');
    expect(book.forfeits(now)).toEqual([['c', [AUCTION, 'another-auction']]]);
  });

  it('whose gateway falls silent is lost when the lease has run out', () => {
    quoting();
    expect(after(LEASE_MILLIS + GRACE - 250)).toEqual([]);
    expect(after(250)).toEqual(['c']);
    expect(says('A', {})).toBe('UNKNOWN');
  });

  it('that its gateway does not name among all it has is lost', () => {
    quoting();
    says('A', { whole: true });
    expect(after(GRACE, 'A')).toEqual(['c']);
  });

  it('that says bye leaves its quotes standing, even where its end is told again', () => {
    quoting();
    says('A', { gone: [end('BYE')] });
    says('A', { whole: true, gone: [end('LOST')] });
    expect(after(90_000, 'A')).toEqual([]);
  });

  it('that is lost with the gateway and said bye before leaves them standing', () => {
    quoting();
    after(LEASE_MILLIS + 250);
    says('A', { whole: true, gone: [end('BYE')] });
    expect(after(90_000, 'A')).toEqual([]);
  });

  it.each([
    ['the same gateway', 'A'],
    ['another one', 'B'],
  ])('that comes back at %s in time keeps them', (_where, gateway) => {
    quoting();
    says('A', { gone: [end('LOST')] });
    after(GRACE - 1, 'A');
    says(gateway, { whole: true, here: [claim(2)] });
    expect(after(90_000, 'A', gateway)).toEqual([]);
    says(gateway, { gone: [end('LOST', 2)] });
    expect(after(GRACE, 'A', gateway)).toEqual(['c']);
  });

  it('that comes back late, but before its quotes were taken, keeps them', () => {
    quoting();
    says('A', { gone: [end('LOST')] });
    expect(after(GRACE, 'A')).toEqual(['c']);
    book.pulled('c');
    says('A', { here: [claim(2)] });
    expect(book.isForfeit('c', now)).toBe(false);
  });

  it('keeps them when it was at its next gateway before the first noticed the loss', () => {
    quoting();
    says('B', { whole: true, here: [claim(2)] });
    says('A', { gone: [end('LOST', 1)] });
    expect(after(90_000, 'A', 'B')).toEqual([]);
    // And the first gateway may go, or say what it last knew.
    says('A', { whole: true, here: [claim(1)] });
    expect(after(90_000, 'B')).toEqual([]);
    expect(after(LEASE_MILLIS + GRACE)).toEqual(['c']);
  });

  it('is not brought back by a claim that its end has overtaken', () => {
    quoting();
    says('A', { gone: [end('LOST')] });
    says('A', { here: [claim(1)] });
    expect(after(GRACE, 'A')).toEqual(['c']);
  });

  it('comes back with the same socket where only its gateway was silent', () => {
    quoting();
    after(LEASE_MILLIS + 250);
    says('A', { whole: true, here: [claim(1)] });
    expect(after(90_000, 'A')).toEqual([]);
  });

  it('whose end is told after its gateway fell silent has been lost since then', () => {
    quoting();
    after(LEASE_MILLIS + 250);
    says('A', { whole: true, gone: [end('LOST')] });
    expect(after(GRACE - 251, 'A')).toEqual([]);
    expect(after(1, 'A')).toEqual(['c']);
  });

  it('that is at two gateways as the same socket ends where it was claimed last', () => {
    quoting();
    says('B', { whole: true, here: [claim(1)] });
    says('A', { gone: [end('LOST')] });
    expect(after(90_000, 'A', 'B')).toEqual([]);
    says('B', { gone: [end('LOST')] });
    expect(after(GRACE, 'A', 'B')).toEqual(['c']);
  });

  it("is nobody else's to claim", () => {
    quoting();
    says('B', { whole: true, here: [{ ...claim(9), account: 'max' }] });
    says('A', { gone: [end('LOST')] });
    expect(after(GRACE, 'A', 'B')).toEqual(['c']);
  });

  it('may come and go within one message', () => {
    quoting();
    says('A', { here: [claim(2)], gone: [end('LOST', 1), end('LOST', 2)] });
    expect(after(GRACE, 'A')).toEqual(['c']);
  });
});

describe('the latest hello decides for all quotes of a connection', () => {
  it('that they are watched no longer', () => {
    quoting();
    says('A', { here: [unwatched(2)] });
    says('A', { gone: [end('LOST', 2)] });
    expect(after(90_000, 'A')).toEqual([]);
  });

  it('that they are watched now, also after a bye', () => {
    quoting(unwatched());
    says('A', { gone: [end('BYE')] });
    says('A', { here: [claim(2, 500)] });
    says('A', { gone: [end('LOST', 2)] });
    expect(after(500, 'A')).toEqual(['c']);
  });
});

describe('a quote', () => {
  it('that is over is none of the connection any more', () => {
    quoting();
    book.left('c', AUCTION);
    says('A', { gone: [end('LOST')] });
    expect(after(GRACE, 'A')).toEqual([]);
  });

  it('of another account is not touched by the connection', () => {
    says('A', { whole: true, here: [claim()] });
    quotes('max');
    says('A', { gone: [end('LOST')] });
    expect(after(GRACE, 'A')).toEqual([]);
  });

  it('that was on its way when its connection was lost goes with it', () => {
    says('A', { whole: true, here: [claim()] });
    says('A', { gone: [end('LOST')] });
    expect(after(GRACE + 30_000, 'A')).toEqual([]);
    expect(book.entered('c', 'mia', AUCTION, now)).toBe(false);
    expect(book.forfeits(now)).toEqual([['c', [AUCTION]]]);
  });

  it('that was on its way when its connection said bye stands', () => {
    says('A', { whole: true, here: [claim()] });
    says('A', { gone: [end('BYE')] });
    quotes();
    expect(after(90_000, 'A')).toEqual([]);
  });
});

describe('a gateway that nobody knows', () => {
  it('has to say all it has, and nothing of what it said counts', () => {
    expect(says('A', { here: [claim()] })).toBe('UNKNOWN');
    expect(book.size).toBe(0);
    expect(says('A', { whole: true })).toBe('HEARD');
    expect(says('A', { here: [claim()] })).toBe('HEARD');
    expect(book.size).toBe(1);
  });

  it('may not have more than a gateway can have', () => {
    const many = Array.from({ length: 20_001 }, (_, index) => claim(1, GRACE, `c${index}`));
    expect(says('A', { whole: true, here: many })).toBe('TOO_MANY');
    expect(says('A', { whole: true, here: many.slice(1) })).toBe('HEARD');
    expect(says('A', { here: [claim()] })).toBe('TOO_MANY');
    expect(book.size).toBe(20_000);
  });
});

describe('what is journaled', () => {
  const note = (grace?: number) => ({
    type: 'CONNECTION_NOTED',
    data: { connection_id: 'c', account_id: 'mia', ...(grace === undefined ? {} : { grace_ms: grace }) },
  });

  it('is the watch, before the first quote and once', () => {
    says('A', { whole: true, here: [claim()] });
    expect(book.takeNotes(10)).toEqual([]);
    expect(book.noteBeforeQuote('c', 'max')).toBeUndefined();
    expect(book.noteBeforeQuote('c', 'mia')).toEqual(note(GRACE));
    book.entered('c', 'mia', AUCTION, now);
    expect(book.noteBeforeQuote('c', 'mia')).toBeUndefined();
    expect(book.owesNotes).toBe(false);
  });

  it('is nothing of connections that are not watched', () => {
    quoting(unwatched());
    says('A', { gone: [end('LOST')] });
    after(90_000, 'A');
    expect(book.takeNotes(10)).toEqual([]);
  });

  it('is every other watch of a later hello, and the bye', () => {
    quoting();
    says('A', { here: [claim(2, 50)] });
    expect(book.takeNotes(10)).toEqual([note(50)]);
    says('A', { here: [claim(3, 50)] });
    expect(book.takeNotes(10)).toEqual([]);
    says('A', { gone: [end('BYE', 3)] });
    expect(book.takeNotes(10)).toEqual([note()]);
    expect(book.takeNotes(10)).toEqual([]);
  });

  it('is the bye also where the quote is still on its way', () => {
    says('A', { whole: true, here: [claim()] });
    book.noteBeforeQuote('c', 'mia');
    says('A', { gone: [end('BYE')] });
    expect(book.takeNotes(10)).toEqual([note()]);
  });

  it('is a claim that comes after its quote', () => {
    says('A', { whole: true });
    quotes();
    says('A', { here: [claim()] });
    expect(book.takeNotes(10)).toEqual([note(GRACE)]);
  });

  it('is taken back when the connection is forgotten, and nothing of it is left', () => {
    quoting();
    book.left('c', AUCTION);
    says('A', { gone: [end('LOST')] });
    after(59_000, 'A');
    expect([book.size, book.owesNotes]).toEqual([1, false]);
    after(1_000, 'A');
    expect(book.takeNotes(10)).toEqual([note()]);
    after(250, 'A');
    expect(book.size).toBe(0);
  });

  it('comes in parts where it is much', () => {
    says('A', { whole: true, here: ['c', 'd', 'e'].map((id) => claim(1, GRACE, id)) });
    for (const id of ['c', 'd', 'e']) {
      book.entered(id, 'mia', AUCTION, now);
    }
    expect(book.takeNotes(2)).toHaveLength(2);
    expect(book.owesNotes).toBe(true);
    expect(book.takeNotes(2)).toHaveLength(1);
    expect(book.owesNotes).toBe(false);
  });
});

describe('a fresh process', () => {
  function recovers(grace: number): void {
    const noted = new NotedConnections();
    noted.restore([['c', { account: 'mia', graceMillis: grace }]]);
    book.recovered(noted.all(), now);
    book.entered('c', 'mia', AUCTION, now);
  }

  it.each([
    [0, LEASE_MILLIS],
    [10_000, 10_000],
  ])(
    'that no gateway tells of a connection (grace %d) takes it for lost from its start on',
    (grace, over) => {
      recovers(grace);
      expect(after(over - 250)).toEqual([]);
      expect(after(250)).toEqual(['c']);
    },
  );

  it('hears that it is still there', () => {
    recovers(0);
    after(2_000);
    says('A', { whole: true, here: [claim(17, 0)] });
    expect(after(90_000, 'A')).toEqual([]);
    expect(book.owesNotes).toBe(false);
  });

  it.each(['before this process', 'while it was held here'])(
    'withdraws nothing for a loss %s until the other gateways have had time to find it',
    (when) => {
      recovers(GRACE);
      if (when === 'while it was held here') says('A', { whole: true, here: [claim(1)] });
      after(250);
      says('A', { whole: true, gone: [end('LOST', 1)] });
      // It has gone on at B, which comes late.
      expect(after(LEASE_MILLIS - 500, 'A')).toEqual([]);
      says('B', { whole: true, here: [claim(2)] });
      expect(after(60_000, 'A', 'B')).toEqual([]);
    },
  );

  it('withdraws what was lost as soon as they have had it, and its grace is over', () => {
    recovers(GRACE);
    says('A', { whole: true, gone: [end('LOST', 1)] });
    expect(after(LEASE_MILLIS - 250, 'A')).toEqual([]);
    expect(after(250, 'A')).toEqual(['c']);
  });

  it('knows nothing of a watch on quotes whose connection is not on record', () => {
    book.entered('c', 'mia', AUCTION, now);
    expect(after(90_000)).toEqual([]);
  });
});
