import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Event, State } from './state.js';
import { Stillness, type StillnessRun } from './stillness.js';

/** A state that words can change: `good` is accepted; `evil` is refused and still changes something. */
class SampleState {
  tables = 0;
  readonly journal: Event[] = [];
  shown = new Map<string, string>();
  readonly found: string[] = [];
  readonly played: string[][] = [];
  putBackTimes = 0;
  readonly stillness: Stillness;

  constructor() {
    const books = {
      look: (): Promise<State> =>
        Promise.resolve({ tables: String(this.tables), heads: [this.journal.length], shown: this.shown }),
      eventsSince: ({ heads: [head] }: State): Promise<Event[]> => Promise.resolve(this.journal.slice(head)),
    };
    const judge = { add: (what: string): number => this.found.push(what) };
    const putBack = (): Promise<void> => Promise.resolve(void (this.putBackTimes += 1));
    this.stillness = new Stillness(books, judge, { putBack, auctions: ['a'], quotes: ['q'] }, 1);
  }

  play = (words: readonly string[]): Promise<StillnessRun<string>> => {
    this.played.push([...words]);
    if (words.some((word) => word === 'good' || word === 'evil')) this.tables += 1;
    const refused = words.filter((word) => word !== 'good');
    return Promise.resolve({ isRefused: refused.length === words.length, refused, how: words.join() });
  };
}

describe('refused requests', () => {
  let sample: SampleState;
  beforeEach(() => {
    sample = new SampleState();
  });
  const refuse = (change: () => unknown): Promise<boolean> =>
    sample.stillness.hold(['bad'], () => {
      change();
      return Promise.resolve({ isRefused: true, refused: [], how: '' });
    });

  it('may change nothing, and are played again alone if others were accepted', async () => {
    expect(await sample.stillness.hold(['bad', 'worse'], sample.play)).toBe(true);
    expect(await sample.stillness.hold(['good', 'bad'], sample.play)).toBe(true);
    expect(sample.found).toEqual([]);
    expect(await sample.stillness.hold(['good', 'evil'], sample.play)).toBe(true);
    expect(sample.found).toEqual(['something changed although all was refused']);
    expect(sample.played.slice(1)).toEqual([['good', 'bad'], ['bad'], ['good', 'evil'], ['evil']]);
    expect(sample.putBackTimes).toBe(2);
  });

  it('are not judged if some are accepted each time', async () => {
    const moody = (words: readonly string[]): Promise<StillnessRun<string>> =>
      Promise.resolve({ isRefused: false, refused: words.slice(1), how: '' });
    expect(await sample.stillness.hold(['good', 'bad', 'bad', 'bad'], moody)).toBe(false);
  });

  it('may add refusals to the journal, and events due by time', async () => {
    await refuse(() => sample.journal.push({ type: 'QUOTE_REJECTED' }));
    await refuse(() => sample.journal.push({ type: 'AUCTION_CLOSED', auction_id: 'other' }));
    expect(sample.found).toEqual([]);
    await refuse(() => sample.journal.push({ type: 'QUOTE_WITHDRAWN' }));
    await refuse(() =>
      sample.journal.push({ type: 'QUOTE_EXPIRED', auction_id: 'a', data: { quote_id: 'q' } }),
    );
    expect(sample.found).toEqual([
      'QUOTE_WITHDRAWN was journaled although all was refused',
      'QUOTE_EXPIRED was journaled although all was refused',
    ]);
  });

  it('may not change what the service shows', async () => {
    sample.shown = new Map([['a quote', '5']]);
    await refuse(() => (sample.shown = new Map([['a quote', '4']])));
    expect(sample.found).toEqual(['the service shows something else although all was refused: 5 4']);
  });
});
