import { evolve } from '../evolve/evolve.js';
import type { AuctionEvent, Placed } from '../events.js';
import type { Instant } from '#libs/base/instant.js';
import { objectionToForm, objectionToTime, type Telling } from './form.js';
import { idsGivenBy, objectionToIds } from './ids.js';
import { objectionTo } from './objections.js';
import type { AuctionState } from '../state.js';

/** One auction run again from its events, by the rules alone. */
export class Rerun {
  private current: AuctionState | undefined;
  /** Of all events so far. */
  private latest: Instant | undefined;
  private readonly given = new Set<string>();

  constructor(private readonly telling: Telling) {}

  /** As the events make it, also where the rules object to them. */
  get state(): AuctionState | undefined {
    return this.current;
  }

  /** What the rules have against the event as the next one; undefined for nothing. Throws what they cannot read. */
  objectionTo(event: AuctionEvent): string | undefined {
    return (
      objectionToForm(event, this.telling) ??
      objectionTo(this.current, event) ??
      objectionToTime(this.latest, event) ??
      objectionToIds(event, this.given)
    );
  }

  /** Whatever the rules say of it. Throws where there is no going on. */
  take(placed: Placed<AuctionEvent>): void {
    const { event } = placed;
    this.current = evolve(this.current, placed);
    for (const id of idsGivenBy(event)) this.given.add(id);
    if (this.latest === undefined || event.at > this.latest) this.latest = event.at;
  }
}
