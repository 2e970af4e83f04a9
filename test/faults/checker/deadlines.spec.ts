import { describe, expect, it } from '@jest/globals';
import { checkDeadlines, Deadlines, type Disturbance } from './deadlines.js';
import type { PlacedEvent } from '../../simulator/oracle/raw-events.js';
import { Findings } from './findings.js';

const DUE = Date.parse('2026-11-20T12:00:00.500Z');
const AT = '2026-11-20T12:00:00.500000000Z';

function wrongs(
  byMillis: number,
  disturbances: readonly Disturbance[] = [],
  type = 'AUCTION_CLOSED',
): string[] {
  const findings = new Findings();
  const deadlines = new Deadlines();
  deadlines.note(placed(type), DUE + byMillis);
  checkDeadlines(deadlines, disturbances, findings);
  return findings.violations;
}

function placed(type: string): PlacedEvent {
  return { shard: 0, sequence: 7, event: { type, auction_id: 'a', at: AT, data: {} } };
}

function disturbed(from: number, to: number, kind = 'kill:owner'): Disturbance {
  return { kinds: [kind], began: DUE + from, ended: DUE + to };
}

describe('a close', () => {
  it('may be written at its time or a little later', () => {
    expect([wrongs(0), wrongs(4_999), wrongs(-2)]).toEqual([[], [], []]);
    expect(wrongs(5_001)).toEqual([
      'everything is over at its time: AUCTION_CLOSED 7 of a is late by 5001 ms in which all was well',
    ]);
  });

  it('may wait until a fault is over, but no longer', () => {
    const twice = [disturbed(-1_000, 40_000), disturbed(41_000, 50_000)];
    expect([wrongs(53_900, twice), wrongs(54_100, twice)]).toEqual([
      [],
      ['everything is over at its time: AUCTION_CLOSED 7 of a is late by 5100 ms in which all was well'],
    ]);
  });

  it('is never written before its time, except by the trusted clock error', () => {
    const early = ['nothing is over before its time: AUCTION_CLOSED 7 of a by 300 ms'];
    expect(wrongs(-300)).toEqual(early);
    expect(wrongs(-300, [disturbed(-1_000, 1_000)])).toEqual(early);
    expect(wrongs(-300, [disturbed(-9_000, -3_000, 'clock:+5s')])).toEqual(early);
    expect(wrongs(-300, [disturbed(-9_000, -1_000, 'clock:+5s')])).toEqual([]);
    expect(wrongs(-3_600, [disturbed(-9_000, 1_000, 'clock:+1h')])).toHaveLength(1);
  });

  it('is checked like an expiry, and other events are not', () => {
    expect(wrongs(-300, [], 'QUOTE_EXPIRED')).toHaveLength(1);
    expect(wrongs(-300, [], 'AUCTION_CANCELLED')).toEqual([]);
  });
});

describe('an award that was given up', () => {
  function givenUp(afterMillis: number, disturbances: readonly Disturbance[] = []): string[] {
    const findings = new Findings();
    const deadlines = new Deadlines();
    deadlines.note(placed('AUCTION_AWARDED'), DUE);
    deadlines.note(placed('EXECUTION_FAILED'), DUE + afterMillis);
    checkDeadlines(deadlines, disturbances, findings);
    return findings.violations;
  }

  it('had no time without faults', () => {
    expect(givenUp(20_000, [disturbed(1_000, 19_000, 'kill:settler')])).toEqual([]);
    expect(givenUp(20_000, [disturbed(1_000, 14_000, 'kill:settler')])).toEqual([
      'what can be settled is settled: EXECUTION_FAILED 7 of a after 7000 ms in which all was well, though all was set aside',
    ]);
  });
});
