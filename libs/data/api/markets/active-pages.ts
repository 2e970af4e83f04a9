import { object, type Decoded } from '#libs/edge/decoding/decode.js';
import { integer } from '#libs/edge/decoding/decode-scalars.js';
import type { OnFault } from '#libs/platform/process/log.js';
import type { Provider } from '../../rules/providers.js';
import type { FoundMarket } from '../../store/market-reader.js';
import type { PageWish, SnapshotRead, SnapshotReader } from '../../store/snapshot-reader.js';
import type { SealedCursors } from '../cursors.js';
import { badCursor, refuse } from '../refusals.js';

const PLACE = object({ required: { snapshot: integer(0), after: integer(0) } });

export interface ActiveWish {
  /** The template of the path: cursors of one are none of another. */
  readonly route: string;
  readonly provider: Provider;
  readonly limit: number;
  readonly cursor: string | undefined;
}

export interface ActivePage {
  readonly markets: readonly FoundMarket[];
  readonly next_cursor: string | null;
}

/** Pages of open markets by market id, all pages of a cursor from one snapshot. */
export class ActivePages {
  constructor(
    private readonly snapshots: Pick<SnapshotReader, 'page'>,
    private readonly cursors: SealedCursors,
    private readonly onFault: OnFault,
  ) {}

  /** Throws 400 for a cursor that counts no more, and 503 where no snapshot can be shown: never an empty page for that. */
  async page({ route, provider, limit, cursor }: ActiveWish, now: number): Promise<ActivePage> {
    const filters = { provider };
    const place: Decoded<typeof PLACE> | undefined =
      cursor === undefined ? undefined : this.cursors.open(route, filters, cursor, PLACE);
    const read = await this.read(provider, { limit, place }, now);
    if (read === 'expired') throw badCursor();
    if (read === 'outdated') throw refuse(503, 'Snapshot unavailable');
    const { markets, next } = read;
    return { markets, next_cursor: next === undefined ? null : this.cursors.seal(route, filters, next) };
  }

  private async read(provider: Provider, wish: PageWish, now: number): Promise<SnapshotRead> {
    try {
      return await this.snapshots.page(provider, wish, now);
    } catch (error) {
      this.onFault('reading a snapshot', error);
      return 'outdated';
    }
  }
}
