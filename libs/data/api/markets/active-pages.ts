import { object, type Decoded } from '#libs/edge/decoding/decode.js';
import { integer } from '#libs/edge/decoding/decode-scalars.js';
import type { OnFault } from '#libs/platform/process/log.js';
import type { Provider } from '../../rules/providers.js';
import type { FoundMarket } from '../../store/market-reader.js';
import type { PageWish, SnapshotRead, SnapshotReader } from '../../store/snapshot-reader.js';
import type { SealedCursors } from '../cursors.js';
import { badCursor, refuse } from '../refusals.js';

const POSITION = object({ required: { snapshot: integer(0), after: integer(0) } });

export interface ActiveWish {
  /** The path template of the route: a cursor is valid for one route only. */
  readonly route: string;
  readonly provider: Provider;
  readonly limit: number;
  readonly cursor: string | undefined;
}

export interface ActivePage {
  readonly markets: readonly FoundMarket[];
  readonly next_cursor: string | null;
}

/** Pages of open markets, by market id. All pages of one cursor come from one snapshot. */
export class ActivePages {
  constructor(
    private readonly snapshots: Pick<SnapshotReader, 'page'>,
    private readonly cursors: SealedCursors,
    private readonly onFault: OnFault,
  ) {}

  /**
   * Throws 400 for a cursor that is no longer valid, and 503 if there is no usable snapshot. It never returns an empty page
   * instead.
   */
  async page({ route, provider, limit, cursor }: ActiveWish, now: number): Promise<ActivePage> {
    const filters = { provider };
    const position: Decoded<typeof POSITION> | undefined =
      cursor === undefined ? undefined : this.cursors.open(route, filters, cursor, POSITION);
    const read = await this.read(provider, { limit, place: position }, now);
    if (read === 'expired') throw badCursor();
    if (read === 'outdated') throw refuse(503, 'Snapshot unavailable');
    const { markets, next } = read;
    return { markets, next_cursor: next === undefined ? null : this.cursors.seal(route, filters, next) };
  }

  private async read(provider: Provider, query: PageWish, now: number): Promise<SnapshotRead> {
    try {
      return await this.snapshots.page(provider, query, now);
    } catch (error) {
      this.onFault('reading a snapshot', error);
      return 'outdated';
    }
  }
}
