import { evolve } from '../evolve/evolve.js';
import type { AuctionEvent, Placed } from '../events.js';
import type { Instant } from '#libs/base/instant.js';
import { objectionToForm, objectionToTime, type Telling } from './form.js';
import { idsGivenBy, objectionToIds } from './ids.js';
import { objectionTo } from './objections.js';
import type { AuctionState } from '../state.js';

/** Runs one auction again from its events, by the rules alone. */
export class Rerun {
  private current: AuctionState | undefined;
  /** The latest time of all events so far. */
  private latest: Instant | undefined;
  private readonly given = new Set<string>();

  constructor(private readonly telling: Telling) {}

  /** The state after all events taken, including those that the rules object to. */
  get state(): AuctionState | undefined {
    return this.current;
  }

  /** Why the rules object to this event as the next one; undefined if they do not. Throws if they cannot read it. */
  objectionTo(event: AuctionEvent): string | undefined {
    return (
      objectionToForm(event, this.telling) ??
      objectionTo(this.current, event) ??
      objectionToTime(this.latest, event) ??
      objectionToIds(event, this.given)
    );
  }

  /** Applies the event, whatever the rules say of it. Throws if it cannot be applied. */
  take(placed: Placed<AuctionEvent>): void {
    const { event } = placed;
    this.current = evolve(this.current, placed);
    for (const id of idsGivenBy(event)) this.given.add(id);
    if (this.latest === undefined || event.at > this.latest) this.latest = event.at;
  }
}
