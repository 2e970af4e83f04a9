import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Event, State } from './state.js';
import { Stillness, type Played } from './stillness.js';

/** A state that what is played can change, and what was found wrong with that. */
class Room {
  tables = 0;
  readonly journal: Event[] = [];
  readonly found: string[] = [];
  readonly played: string[][] = [];
  putBackTimes = 0;
  readonly stillness: Stillness;

  constructor() {
    const books = {
      look: (): Promise<State> =>
        Promise.resolve({ tables: String(this.tables), heads: [this.journal.length] }),
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

  /** Of these words `good` is accepted, `evil` is refused and changes something. */
  play = (words: readonly string[]): Promise<Played<string>> => {
    this.played.push([...words]);
    if (words.some((word) => word === 'good' || word === 'evil')) this.tables += 1;
    const refused = words.filter((word) => word !== 'good');
    return Promise.resolve({ isRefused: refused.length === words.length, refused, how: words.join() });
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

  it('is not judged where there is nothing of it', async () => {
    expect(await room.stillness.hold(['good'], room.play)).toBe('NOT AT ALL');
    expect(await room.stillness.hold([], room.play)).toBe('NOT AT ALL');
  });

  it('may leave refusals in the journal and nothing else', async () => {
    const journals = (type: string) => (): Promise<Played<string>> => {
      room.journal.push({ type });
      return Promise.resolve({ isRefused: true, refused: [], how: '' });
    };
    await room.stillness.hold(['bad'], journals('QUOTE_REJECTED'));
    expect(room.found).toEqual([]);
    await room.stillness.hold(['bad'], journals('QUOTE_WITHDRAWN'));
    expect(room.found).toEqual(['QUOTE_WITHDRAWN was journaled although all was refused']);
  });

  it('is found between one look and the next too', async () => {
    await room.stillness.hold(['bad'], room.play);
    room.tables += 1;
    await room.stillness.hold(['bad'], room.play);
    expect(room.found).toEqual(['something changed although all was refused']);
  });

  it('is not blamed for what comes with time', async () => {
    await room.stillness.hold(['bad'], room.play);
    room.journal.push({ type: 'QUOTE_EXPIRED' });
    room.tables += 1;
    await room.stillness.hold(['bad'], room.play);
    expect(room.found).toEqual([]);
  });
});
