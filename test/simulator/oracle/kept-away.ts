import { BEGINNING, NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import type { Tables } from '../storage/tables.js';
import { activeQuotes, type AuctionFile } from './auction-file.js';
import type { PlacedEvent } from './raw-events.js';
import { must } from './violation.js';

const KEPT_AWAY = 'a maker that its protection keeps away does not quote';
const PULLED = 'what is protected is taken back';
const BEGINNING_MILLIS = Number(BEGINNING / BigInt(NANOS_PER_MILLI));
/** A quote whose reservation was made before the freeze is in the journal within this time. */
const IN_HAND_MILLIS = 20;
/** Within this time the maker's quotes have also been withdrawn. */
const PULLED_MILLIS = 1_600;
/** The time for quotes that were in flight when the protection tripped. */
const MEANWHILE_MILLIS = 50;

interface Freeze {
  readonly sinceMillis: number;
  readonly until: string;
}

/** In a world without faults: what must follow after a maker's protection has tripped. */
export class KeptAway {
  private readonly freezes = new Map<string, Freeze[]>();

  constructor(
    private readonly tables: Pick<Tables, 'frozen'>,
    private readonly nowMillis: () => number,
    private readonly onTripped: () => void,
  ) {}

  onCommit(): void {
    for (const [maker, until] of this.tables.frozen.rows) {
      const known = this.freezes.get(maker) ?? [];
      if (known.at(-1)?.until === until) continue;
      this.freezes.set(maker, [...known, { sinceMillis: this.nowMillis(), until }]);
      this.onTripped();
    }
  }

  mustKeepAway({ event: { type, at, data } }: PlacedEvent): void {
    if (type !== 'QUOTE_SUBMITTED') return;
    const maker = data.quote?.maker ?? '';
    const freeze = this.freezes.get(maker)?.find(({ sinceMillis, until }) => {
      return this.nowMillis() > sinceMillis + IN_HAND_MILLIS && at < until;
    });
    must(
      freeze === undefined,
      KEPT_AWAY,
      () => `${maker} quotes, and is blocked until ${freeze?.until ?? ''}`,
    );
  }

  /** At the close no revocable quote may remain of a maker whose protection has tripped since. */
  mustHavePulled(file: AuctionFile): void {
    if (file.terms.quote_revision_policy !== 'FREE') return;
    const latest = this.nowMillis() - PULLED_MILLIS;
    for (const { id, maker, versions } of activeQuotes(file)) {
      const stoodAt = Date.parse(versions[0]?.submitted_at ?? '') - BEGINNING_MILLIS + MEANWHILE_MILLIS;
      const freeze = this.freezes.get(maker)?.find(({ sinceMillis: at }) => at > stoodAt && at < latest);
      must(
        freeze === undefined,
        PULLED,
        () => `${id} of ${file.id} is active although its maker's protection tripped`,
      );
    }
  }
}
