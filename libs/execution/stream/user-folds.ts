import type { Cancel } from '#libs/platform/time/clock.js';
import type { JournaledEvent } from './told.js';
import { UserFold, type FoldPorts, type LiveOrders } from './user-fold.js';

/** The cell does not answer, or its answer lags its journal. */
export class CellAway extends Error {
  override readonly name = 'CellAway';
}

export interface UserFoldsPorts extends FoldPorts {
  readonly cellOf: (user: string) => number;
  /** Fails if the cell does not answer. */
  readonly liveOrders: (user: string, cell: number) => Promise<LiveOrders>;
}

/** A fold that is kept until it is released. */
export interface HeldFold {
  readonly fold: UserFold;
  readonly release: () => void;
}

interface Entry {
  readonly fold: Promise<UserFold>;
  users: number;
  forget: Cancel;
}

/** One fold for each user with sockets. It is kept for a while after the last socket has gone. */
export class UserFolds {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly ports: UserFoldsPorts) {}

  /** Returns a fold that includes everything durable at the call. Throws CellAway. */
  async acquire(user: string): Promise<HeldFold> {
    const { feed, limits, cellOf } = this.ports;
    const cell = cellOf(user);
    const head = await feed.head(cell);
    const entry = this.entries.get(user) ?? this.begin(user, cell);
    entry.users += 1;
    entry.forget();
    try {
      const fold = await entry.fold;
      const isThere = await feed.waitUntil(
        () => fold.isBroken || fold.position >= head,
        limits.catchUpMillis,
      );
      if (isThere && !fold.isBroken) {
        return {
          fold,
          release: () => {
            this.leave(user, entry);
          },
        };
      }
      throw new CellAway('the journal cannot be followed at present');
    } catch (error) {
      this.leave(user, entry);
      throw error;
    }
  }

  private leave(user: string, entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    entry.forget = this.ports.clock.after(this.ports.limits.lingerMillis, () => {
      this.drop(user, entry);
    });
  }

  private drop(user: string, entry: Entry): void {
    if (this.entries.get(user) === entry) this.entries.delete(user);
    void entry.fold.then(
      (fold) => {
        fold.stop();
      },
      () => undefined,
    );
  }

  private begin(user: string, cell: number): Entry {
    const entry: Entry = { fold: this.open(user, cell), users: 0, forget: () => undefined };
    this.entries.set(user, entry);
    entry.fold.then(
      (fold) => {
        // A broken fold must not be handed out again.
        fold.listen({
          onTold: () => undefined,
          onBroken: () => {
            if (this.entries.get(user) === entry) this.entries.delete(user);
          },
        });
      },
      () => {
        if (this.entries.get(user) === entry) this.entries.delete(user);
      },
    );
    return entry;
  }

  /** Listens to the feed first, so that no event is lost between the cell's answer and the feed. */
  private async open(user: string, cell: number): Promise<UserFold> {
    const { feed, liveOrders } = this.ports;
    const unheard: JournaledEvent[] = [];
    const unlisten = feed.listen(user, (events) => unheard.push(...events));
    const listeningFrom = feed.position(cell);
    try {
      const live = await liveOrders(user, cell);
      if (live.position < listeningFrom) throw new CellAway('the answer of the cell lags its journal');
      return new UserFold(this.ports, user, cell, live, unheard);
    } finally {
      unlisten();
    }
  }
}
