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

function reports(
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
function claimWithQuote(asked: ConnectionClaim = claim()): void {
  reports('A', { whole: true, here: [asked] });
  quotes();
}

function quotes(account = 'mia', auction = AUCTION): void {
  book.noteBeforeQuote('c', account);
  book.entered('c', account, auction, now);
}

/** Lets time pass while these gateways renew their leases. Returns the connections that are forfeit at the end. */
function after(millis: number, ...alive: string[]): string[] {
  const until = now + millis;
  while (now < until) {
    now = Math.min(until, now + 250);
    for (const gateway of alive) reports(gateway, {});
    book.tick(now);
  }
  return book.forfeits(now).map(([id]) => id);
}

describe('a watched connection', () => {
  it('keeps its quotes while its gateway renews its lease', () => {
    claimWithQuote();
    expect(after(60_000, 'A')).toEqual([]);
  });

  it.each([
    ['at once without grace', claim(1, 0), 0],
    ['after its grace', claim(1, GRACE), GRACE],
  ])('that is lost gives up its quotes %s, and not before', (_when, asked, grace) => {
    claimWithQuote(asked);
    reports('A', { gone: [end('LOST')] });
    if (grace > 0) expect(after(grace - 1, 'A')).toEqual([]);
    expect(after(grace > 0 ? 1 : 0, 'A')).toEqual(['c']);
    expect(book.isForfeit('c', now)).toBe(true);
  });

  it('gives up its quotes once, and each later quote as well', () => {
    claimWithQuote();
    reports('A', { gone: [end('LOST')] });
    expect(after(GRACE, 'A')).toEqual(['c']);
    book.pulled('c');
    expect(after(1_000, 'A')).toEqual([]);
    quotes('mia', 'another-auction');
    expect(book.forfeits(now)).toEqual([['c', [AUCTION, 'another-auction']]]);
  });

  it('whose gateway falls silent is lost when the lease expires', () => {
    claimWithQuote();
    expect(after(LEASE_MILLIS + GRACE - 250)).toEqual([]);
    expect(after(250)).toEqual(['c']);
    expect(reports('A', {})).toBe('UNKNOWN');
  });

  it('that its gateway omits from a complete list is lost', () => {
    claimWithQuote();
    reports('A', { whole: true });
    expect(after(GRACE, 'A')).toEqual(['c']);
  });

  it('that sent bye keeps its quotes, even if its end is reported again', () => {
    claimWithQuote();
    reports('A', { gone: [end('BYE')] });
    reports('A', { whole: true, gone: [end('LOST')] });
    expect(after(90_000, 'A')).toEqual([]);
  });

  it('that sent bye before its gateway was lost keeps its quotes', () => {
    claimWithQuote();
    after(LEASE_MILLIS + 250);
    reports('A', { whole: true, gone: [end('BYE')] });
    expect(after(90_000, 'A')).toEqual([]);
  });

  it.each([
    ['the same gateway', 'A'],
    ['another one', 'B'],
  ])('that is resumed at %s in time keeps its quotes', (_where, gateway) => {
    claimWithQuote();
    reports('A', { gone: [end('LOST')] });
    after(GRACE - 1, 'A');
    reports(gateway, { whole: true, here: [claim(2)] });
    expect(after(90_000, 'A', gateway)).toEqual([]);
    reports(gateway, { gone: [end('LOST', 2)] });
    expect(after(GRACE, 'A', gateway)).toEqual(['c']);
  });

  it('that is resumed late, but before the withdrawal, keeps its quotes', () => {
    claimWithQuote();
    reports('A', { gone: [end('LOST')] });
    expect(after(GRACE, 'A')).toEqual(['c']);
    book.pulled('c');
    reports('A', { here: [claim(2)] });
    expect(book.isForfeit('c', now)).toBe(false);
  });

  it('keeps its quotes if it reached its next gateway before the first noticed the loss', () => {
    claimWithQuote();
    reports('B', { whole: true, here: [claim(2)] });
    reports('A', { gone: [end('LOST', 1)] });
    expect(after(90_000, 'A', 'B')).toEqual([]);
    // The first gateway may disappear, or repeat what it knew last.
    reports('A', { whole: true, here: [claim(1)] });
    expect(after(90_000, 'B')).toEqual([]);
    expect(after(LEASE_MILLIS + GRACE)).toEqual(['c']);
  });

  it('is not resumed by a claim that is older than its end', () => {
    claimWithQuote();
    reports('A', { gone: [end('LOST')] });
    reports('A', { here: [claim(1)] });
    expect(after(GRACE, 'A')).toEqual(['c']);
  });

  it('returns with the same socket if only its gateway was silent', () => {
    claimWithQuote();
    after(LEASE_MILLIS + 250);
    reports('A', { whole: true, here: [claim(1)] });
    expect(after(90_000, 'A')).toEqual([]);
  });

  it('whose end is reported after its gateway fell silent counts as lost since the silence', () => {
    claimWithQuote();
    after(LEASE_MILLIS + 250);
    reports('A', { whole: true, gone: [end('LOST')] });
    expect(after(GRACE - 251, 'A')).toEqual([]);
    expect(after(1, 'A')).toEqual(['c']);
  });

  it('that two gateways claim with the same socket ends at the gateway that claimed it last', () => {
    claimWithQuote();
    reports('B', { whole: true, here: [claim(1)] });
    reports('A', { gone: [end('LOST')] });
    expect(after(90_000, 'A', 'B')).toEqual([]);
    reports('B', { gone: [end('LOST')] });
    expect(after(GRACE, 'A', 'B')).toEqual(['c']);
  });

  it('cannot be claimed for another account', () => {
    claimWithQuote();
    reports('B', { whole: true, here: [{ ...claim(9), account: 'max' }] });
    reports('A', { gone: [end('LOST')] });
    expect(after(GRACE, 'A', 'B')).toEqual(['c']);
  });

  it('may be claimed and lost within one message', () => {
    claimWithQuote();
    reports('A', { here: [claim(2)], gone: [end('LOST', 1), end('LOST', 2)] });
    expect(after(GRACE, 'A')).toEqual(['c']);
  });
});

describe('the latest hello decides, for all quotes of a connection,', () => {
  it('that they are no longer watched', () => {
    claimWithQuote();
    reports('A', { here: [unwatched(2)] });
    reports('A', { gone: [end('LOST', 2)] });
    expect(after(90_000, 'A')).toEqual([]);
  });

  it('that they are watched from now on, also after a bye', () => {
    claimWithQuote(unwatched());
    reports('A', { gone: [end('BYE')] });
    reports('A', { here: [claim(2, 500)] });
    reports('A', { gone: [end('LOST', 2)] });
    expect(after(500, 'A')).toEqual(['c']);
  });
});

describe('a quote', () => {
  it('that has ended no longer belongs to the connection', () => {
    claimWithQuote();
    book.left('c', AUCTION);
    reports('A', { gone: [end('LOST')] });
    expect(after(GRACE, 'A')).toEqual([]);
  });

  it('of another account is not affected by the connection', () => {
    reports('A', { whole: true, here: [claim()] });
    quotes('max');
    reports('A', { gone: [end('LOST')] });
    expect(after(GRACE, 'A')).toEqual([]);
  });

  it('that was in flight when its connection was lost is forfeit too', () => {
    reports('A', { whole: true, here: [claim()] });
    reports('A', { gone: [end('LOST')] });
    expect(after(GRACE + 30_000, 'A')).toEqual([]);
    expect(book.entered('c', 'mia', AUCTION, now)).toBe(false);
    expect(book.forfeits(now)).toEqual([['c', [AUCTION]]]);
  });

  it('that was in flight when its connection sent bye stays', () => {
    reports('A', { whole: true, here: [claim()] });
    reports('A', { gone: [end('BYE')] });
    quotes();
    expect(after(90_000, 'A')).toEqual([]);
  });
});

describe('an unknown gateway', () => {
  it('has to send all its connections, and its earlier message has no effect', () => {
    expect(reports('A', { here: [claim()] })).toBe('UNKNOWN');
    expect(book.size).toBe(0);
    expect(reports('A', { whole: true })).toBe('HEARD');
    expect(reports('A', { here: [claim()] })).toBe('HEARD');
    expect(book.size).toBe(1);
  });

  it('may not have more connections than a gateway can have', () => {
    const many = Array.from({ length: 20_001 }, (_, index) => claim(1, GRACE, `c${index}`));
    expect(reports('A', { whole: true, here: many })).toBe('TOO_MANY');
    expect(reports('A', { whole: true, here: many.slice(1) })).toBe('HEARD');
    expect(reports('A', { here: [claim()] })).toBe('TOO_MANY');
    expect(book.size).toBe(20_000);
  });
});

describe('the journal', () => {
  const note = (grace?: number) => ({
    type: 'CONNECTION_NOTED',
    data: { connection_id: 'c', account_id: 'mia', ...(grace === undefined ? {} : { grace_ms: grace }) },
  });

  it('gets the grace once, before the first quote', () => {
    reports('A', { whole: true, here: [claim()] });
    expect(book.takeNotes(10)).toEqual([]);
    expect(book.noteBeforeQuote('c', 'max')).toBeUndefined();
    expect(book.noteBeforeQuote('c', 'mia')).toEqual(note(GRACE));
    book.entered('c', 'mia', AUCTION, now);
    expect(book.noteBeforeQuote('c', 'mia')).toBeUndefined();
    expect(book.owesNotes).toBe(false);
  });

  it('gets nothing about connections that are not watched', () => {
    claimWithQuote(unwatched());
    reports('A', { gone: [end('LOST')] });
    after(90_000, 'A');
    expect(book.takeNotes(10)).toEqual([]);
  });

  it('gets every changed grace of a later hello, and the bye', () => {
    claimWithQuote();
    reports('A', { here: [claim(2, 50)] });
    expect(book.takeNotes(10)).toEqual([note(50)]);
    reports('A', { here: [claim(3, 50)] });
    expect(book.takeNotes(10)).toEqual([]);
    reports('A', { gone: [end('BYE', 3)] });
    expect(book.takeNotes(10)).toEqual([note()]);
    expect(book.takeNotes(10)).toEqual([]);
  });

  it('gets the bye also while the quote is in flight', () => {
    reports('A', { whole: true, here: [claim()] });
    book.noteBeforeQuote('c', 'mia');
    reports('A', { gone: [end('BYE')] });
    expect(book.takeNotes(10)).toEqual([note()]);
  });

  it('gets a claim that comes after its quote', () => {
    reports('A', { whole: true });
    quotes();
    reports('A', { here: [claim()] });
    expect(book.takeNotes(10)).toEqual([note(GRACE)]);
  });

  it('gets a last note when the connection is forgotten, and nothing of it is left', () => {
    claimWithQuote();
    book.left('c', AUCTION);
    reports('A', { gone: [end('LOST')] });
    after(59_000, 'A');
    expect([book.size, book.owesNotes]).toEqual([1, false]);
    after(1_000, 'A');
    expect(book.takeNotes(10)).toEqual([note()]);
    after(250, 'A');
    expect(book.size).toBe(0);
  });

  it('gets many notes in parts', () => {
    reports('A', { whole: true, here: ['c', 'd', 'e'].map((id) => claim(1, GRACE, id)) });
    for (const id of ['c', 'd', 'e']) {
      book.entered(id, 'mia', AUCTION, now);
    }
    expect(book.takeNotes(2)).toHaveLength(2);
    expect(book.owesNotes).toBe(true);
    expect(book.takeNotes(2)).toHaveLength(1);
    expect(book.owesNotes).toBe(false);
  });
});

describe('a new process', () => {
  function recovers(grace: number): void {
    const noted = new NotedConnections();
    noted.restore([['c', { account: 'mia', graceMillis: grace }]]);
    book.recovered(noted.all(), now);
    book.entered('c', 'mia', AUCTION, now);
  }

  it.each([
    [0, LEASE_MILLIS],
    [10_000, 10_000],
  ])('counts a connection that no gateway reports (grace %d) as lost since its start', (grace, over) => {
    recovers(grace);
    expect(after(over - 250)).toEqual([]);
    expect(after(250)).toEqual(['c']);
  });

  it('keeps the quotes of a connection that a gateway claims', () => {
    recovers(0);
    after(2_000);
    reports('A', { whole: true, here: [claim(17, 0)] });
    expect(after(90_000, 'A')).toEqual([]);
    expect(book.owesNotes).toBe(false);
  });

  it.each(['before this process', 'while it was held here'])(
    'withdraws nothing for a loss %s until the other gateways have had time to find the process',
    (when) => {
      recovers(GRACE);
      if (when === 'while it was held here') reports('A', { whole: true, here: [claim(1)] });
      after(250);
      reports('A', { whole: true, gone: [end('LOST', 1)] });
      // The connection was resumed at B, which reports late.
      expect(after(LEASE_MILLIS - 500, 'A')).toEqual([]);
      reports('B', { whole: true, here: [claim(2)] });
      expect(after(60_000, 'A', 'B')).toEqual([]);
    },
  );

  it('withdraws the quotes once the gateways have had that time and the grace is over', () => {
    recovers(GRACE);
    reports('A', { whole: true, gone: [end('LOST', 1)] });
    expect(after(LEASE_MILLIS - 250, 'A')).toEqual([]);
    expect(after(250, 'A')).toEqual(['c']);
  });

  it('does not watch quotes whose connection has no note', () => {
    book.entered('c', 'mia', AUCTION, now);
    expect(after(90_000)).toEqual([]);
  });
});
