import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Standing } from './shown.js';
import type { Event, State } from './state.js';
import { Stillness, type Played } from './stillness.js';

/** A state that what is played can change, and what was found wrong with that. */
class Room {
  tables = 0;
  readonly journal: Event[] = [];
  shown: Standing = new Map();
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
    const furniture = {
      putBack: (): Promise<void> => {
        this.putBackTimes += 1;
        return Promise.resolve();
      },
    };
    this.stillness = new Stillness(books, judge, furniture, 1);
  }

  /** Of these words `good` is accepted, `evil` is refused and changes something; behind `last` nobody is heard, and nobody is told of `sly`. */
  play = (words: readonly string[]): Promise<Played<string>> => {
    this.played.push([...words]);
    const end = words.indexOf('last') + 1 || words.length;
    const said = words.slice(0, end);
    if (said.some((word) => word === 'good' || word === 'evil' || word === 'sly')) this.tables += 1;
    const isDoubtful = (word: string): boolean => word === 'last' || word === 'sly';
    const refused = said.filter((word) => word !== 'good' && !isDoubtful(word));
    return Promise.resolve({
      isRefused: words.length === 1 ? words[0] !== 'good' : refused.length === words.length,
      refused,
      doubtful: [...said.filter(isDoubtful), ...words.slice(end)],
      how: words.join(),
    });
  };
}

describe('what is refused', () => {
  let room: Room;
  beforeEach(() => {
    room = new Room();
  });

  it('is judged as a whole where all of it is refused', async () => {
    expect(await room.stillness.hold(['bad', 'worse'], room.play)).toBe('AS A WHOLE');
    expect(room.found).toEqual([]);
    expect(await room.stillness.hold(['bad', 'evil'], room.play)).toBe('AS A WHOLE');
    expect(room.found).toEqual(['something changed although all was refused']);
  });

  it('is played again alone where something beside it is accepted', async () => {
    expect(await room.stillness.hold(['good', 'bad'], room.play)).toBe('IN PART');
    expect([room.found, room.putBackTimes]).toEqual([[], 1]);
    expect(await room.stillness.hold(['good', 'evil'], room.play)).toBe('IN PART');
    expect(room.found).toEqual(['something changed although all was refused']);
    expect(room.played).toEqual([['good', 'bad'], ['bad'], ['good', 'evil'], ['evil']]);
  });

  it('is judged each by itself where nobody is told of it, or has heard it', async () => {
    expect(await room.stillness.hold(['good', 'last', 'bad', 'good'], room.play)).toBe('IN PART');
    expect(room.played).toEqual([['good', 'last', 'bad', 'good'], ['last'], ['bad'], ['good']]);
    expect(room.found).toEqual([]);
    await room.stillness.hold(['good', 'sly'], room.play);
    expect(room.found).toEqual(['something changed although all was refused']);
  });

  it('is not judged where there is nothing of it, or never without something that is accepted', async () => {
    expect(await room.stillness.hold(['good'], room.play)).toBe('NOTHING REFUSED');
    const moody = (words: readonly string[]): Promise<Played<string>> =>
      Promise.resolve({ isRefused: false, refused: words.slice(1), doubtful: [], how: '' });
    expect(await room.stillness.hold(['good', 'bad', 'bad', 'bad'], moody)).toBe('NOT AT ALL');
  });

  it('may leave refusals in the journal and nothing else', async () => {
    const journals = (type: string) => (): Promise<Played<string>> => {
      room.journal.push({ type });
      return Promise.resolve({ isRefused: true, refused: [], doubtful: [], how: '' });
    };
    await room.stillness.hold(['bad'], journals('QUOTE_REJECTED'));
    expect(room.found).toEqual([]);
    await room.stillness.hold(['bad'], journals('QUOTE_WITHDRAWN'));
    expect(room.found).toEqual(['QUOTE_WITHDRAWN was journaled although all was refused']);
  });

  it('may not be in force where people are told of it', async () => {
    room.shown = new Map([
      ['a quote', '{"price_atoms":5}'],
      ['an old one', '{}'],
    ]);
    const tells = (shown: Standing) => (): Promise<Played<string>> => {
      room.shown = shown;
      return Promise.resolve({ isRefused: true, refused: [], doubtful: [], how: '' });
    };
    await room.stillness.hold(['bad'], tells(new Map([['a quote', '{"price_atoms":5}']])));
    expect(room.found).toEqual([]);
    await room.stillness.hold(['bad'], tells(new Map([['a quote', '{"price_atoms":4}']])));
    expect(room.found).toEqual([
      'what stands is told otherwise although all was refused: {"price_atoms":5} {"price_atoms":4}',
    ]);
  });

  it('is found between one look and the next too', async () => {
    await room.stillness.hold(['bad'], room.play);
    room.tables += 1;
    await room.stillness.hold(['bad'], room.play);
    expect(room.found).toEqual(['something changed although all was refused']);
  });

  it('is not blamed for what comes with time, and is for what is not due', async () => {
    const [noon, later] = ['2026-11-20T12:00:00.000000000Z', '2026-11-20T12:00:01.000000000Z'];
    await room.stillness.hold(['bad'], room.play);
    room.journal.push({ type: 'QUOTE_EXPIRED', at: noon, dueAt: noon });
    room.tables += 1;
    await room.stillness.hold(['bad'], room.play);
    expect(room.found).toEqual([]);
    await room.stillness.hold(['bad'], room.play);
    room.journal.push(
      { type: 'QUOTE_EXPIRED', at: noon, dueAt: later },
      { type: 'AUCTION_CLOSED', at: noon },
    );
    await room.stillness.hold(['bad'], room.play);
    expect(room.found).toEqual([
      'QUOTE_EXPIRED was journaled although all was refused',
      'AUCTION_CLOSED was journaled although all was refused',
    ]);
  });
});
