import { setTimeout as sleep } from 'node:timers/promises';
import type { Fixtures } from './fixtures.js';
import type { Judge } from './judge.js';
import type { ServiceState, Event, State } from './state.js';

/** The effects of an accepted command have ended after this time. */
const AFTER_EFFECTS_MS = 200;
const LOOKS = 25;
/** How often refused requests are played again without accepted ones. */
const TRIES = 3;
/** Events due by time. None of them is due for fixtures within a run. */
const OF_TIME = /^(QUOTE_EXPIRED|AUCTION_(CLOSED|AWARDED|NOT_AWARDED|COMPLETED)|EXECUTION_\w+)$/;

export interface StillnessRun<Thing> {
  /** Whether nothing in it may have changed anything. */
  readonly isRefused: boolean;
  /** The requests that were certainly refused. */
  readonly refused: readonly Thing[];
  readonly how: string;
}

type Play<Thing> = (things: readonly Thing[]) => Promise<StillnessRun<Thing>>;

/**
 * Compares the state before and after a batch. Reads and refused requests must leave it unchanged; a batch with
 * accepted requests is played again without these.
 */
export class Stillness {
  private last: State | undefined;

  constructor(
    private readonly books: Pick<ServiceState, 'look' | 'eventsSince'>,
    private readonly judge: Pick<Judge, 'add'>,
    private readonly fixtures: Pick<Fixtures, 'putBack' | 'auctions' | 'quotes'>,
    private readonly afterEffectsMs = AFTER_EFFECTS_MS,
  ) {}

  /** Whether all refused requests were compared with the state; false if some are accepted each time. */
  async hold<Thing>(things: readonly Thing[], play: Play<Thing>): Promise<boolean> {
    let rest = things;
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const { isRefused, refused } = await this.judged(rest, play);
      if (isRefused || refused.length === 0) return isRefused || tries === 1;
      rest = refused;
    }
    return false;
  }

  private async judged<Thing>(things: readonly Thing[], play: Play<Thing>): Promise<StillnessRun<Thing>> {
    const before = this.last ?? (await this.atRest());
    const played = await play(things);
    this.last = played.isRefused ? await this.unchanged(before, played.how) : undefined;
    if (this.last === undefined) await this.fixtures.putBack();
    return played;
  }

  /** Undefined if an allowed change has happened. */
  private async unchanged(before: State, how: string): Promise<State | undefined> {
    const after = await this.books.look();
    const events = await this.books.eventsSince(before);
    for (const event of events) {
      const { type } = event;
      if (type.endsWith('_REJECTED') || type.startsWith('CONNECTION') || this.comesOfItself(event)) continue;
      this.judge.add(`${type} was journaled although all was refused`, how);
    }
    if (events.some((event) => this.comesOfItself(event))) return undefined;
    if (after.tables !== before.tables) this.judge.add('something changed although all was refused', how);
    for (const [what, told] of before.shown) {
      const now = after.shown.get(what);
      if (now !== undefined && now !== told)
        this.judge.add(`the service shows something else although all was refused: ${told} ${now}`, how);
    }
    return after;
  }

  /** Due by time, or because a stream has ended. */
  private comesOfItself({ type, auction_id: auction = '', data = {} }: Event): boolean {
    const { auctions, quotes } = this.fixtures;
    if (data.by === 'DISCONNECT') return true;
    const isFixture =
      type === 'QUOTE_EXPIRED' ? quotes.includes(data.quote_id ?? '') : auctions.includes(auction);
    return OF_TIME.test(type) && !isFixture;
  }

  /** Returns once two reads agree. */
  private async atRest(): Promise<State> {
    let one = await this.books.look();
    for (let looks = 1; ; looks += 1) {
      await sleep(this.afterEffectsMs);
      const other = await this.books.look();
      const isSame = one.tables === other.tables && one.heads.join() === other.heads.join();
      if (looks === LOOKS || isSame) return other;
      one = other;
    }
  }
}
