import { setTimeout as sleep } from 'node:timers/promises';
import type { Furniture } from './furniture.js';
import type { Judge } from './judge.js';
import { differing } from './shown.js';
import { comesOfItself, type Books, type State } from './state.js';

/** What an accepted command sets in motion is over by then. */
const AFTER_EFFECTS_MS = 200;
const LOOKS = 25;
/** So often what was refused is played anew without what was accepted. */
const TRIES = 3;

export interface Played<Thing> {
  /** Whether nothing of it may have changed anything. */
  readonly isRefused: boolean;
  /** What of it was refused for certain. */
  readonly refused: readonly Thing[];
  /** What of it nobody knows, or has heard of; alone it can be told. */
  readonly doubtful: readonly Thing[];
  readonly how: string;
}

/** How it was judged: whether nothing of it was refused, or what was refused was accepted each time it was played again. */
export type Verdict = 'AS A WHOLE' | 'IN PART' | 'NOTHING REFUSED' | 'NOT AT ALL';

/**
 * Holds what is played between two looks at the state. What only reads or is refused must have left it as it was, so wherever something
 * else was accepted beside it, it is played again without that, and what became of nobody knows each by itself. Between one look and the next nobody plays unseen.
 */
export class Stillness {
  private last: State | undefined;

  constructor(
    private readonly books: Pick<Books, 'look' | 'eventsSince'>,
    private readonly judge: Pick<Judge, 'add'>,
    private readonly furniture: Pick<Furniture, 'putBack'>,
    private readonly afterEffectsMs = AFTER_EFFECTS_MS,
  ) {}

  async hold<Thing>(
    things: readonly Thing[],
    play: (things: readonly Thing[]) => Promise<Played<Thing>>,
  ): Promise<Verdict> {
    const first = await this.judged(things, play);
    if (first.isRefused) return 'AS A WHOLE';
    let isJudged = false;
    let rest = first.refused;
    for (let tries = 1; tries < TRIES && rest.length > 0 && !isJudged; tries += 1) {
      const { isRefused, refused } = await this.judged(rest, play);
      isJudged = isRefused;
      rest = refused;
    }
    for (const one of first.doubtful) {
      const { isRefused } = await this.judged([one], play);
      isJudged ||= isRefused;
    }
    if (isJudged) return 'IN PART';
    return first.refused.length + first.doubtful.length === 0 ? 'NOTHING REFUSED' : 'NOT AT ALL';
  }

  private async judged<Thing>(
    things: readonly Thing[],
    play: (things: readonly Thing[]) => Promise<Played<Thing>>,
  ): Promise<Played<Thing>> {
    const before = this.last ?? (await this.atRest());
    const played = await play(things);
    if (played.isRefused) {
      await this.compare(before, played.how);
    } else {
      this.last = undefined;
      await this.furniture.putBack();
    }
    return played;
  }

  private async compare(before: State, how: string): Promise<void> {
    const after = await this.books.look();
    const events = await this.books.eventsSince(before);
    const isMoved = events.some(comesOfItself);
    for (const event of events) {
      const { type } = event;
      if (type.endsWith('_REJECTED') || type.startsWith('CONNECTION') || comesOfItself(event)) continue;
      this.judge.add(`${type} was journaled although all was refused`, how);
    }
    if (!isMoved && after.tables !== before.tables)
      this.judge.add('something changed although all was refused', how);
    const otherwise = isMoved ? [] : differing(before.shown, after.shown);
    for (const told of otherwise)
      this.judge.add(`what stands is told otherwise although all was refused: ${told}`, how);
    this.last = isMoved ? undefined : after;
  }

  /** As soon as two looks see the same. */
  private async atRest(): Promise<State> {
    let one = await this.books.look();
    for (let looks = 1; ; looks += 1) {
      await sleep(this.afterEffectsMs);
      const other = await this.books.look();
      if (looks === LOOKS || isSame(one, other)) return other;
      one = other;
    }
  }
}

function isSame(one: State, other: State): boolean {
  return one.tables === other.tables && one.heads.join() === other.heads.join();
}
