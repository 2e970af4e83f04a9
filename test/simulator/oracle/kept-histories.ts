import type { Tables } from '../storage/tables.js';
import type { AuctionFile } from './auction-file.js';
import { must } from './violation.js';

const HISTORIES = 'owners keep what auctions are made of that are over';

/** Histories that owners have written of auctions that they forget. They never change, so they must be right at once. */
export class KeptHistories {
  private readonly known = new Set<string>();

  constructor(
    private readonly tables: Tables,
    private readonly files: ReadonlyMap<string, AuctionFile>,
  ) {}

  onCommit(): void {
    const { rows } = this.tables.histories;
    if (rows.size === this.known.size) return;
    for (const [id, { shard, positions }] of rows) {
      if (this.known.has(id)) continue;
      this.known.add(id);
      const file = this.files.get(id);
      must(file?.stage === 'COMPLETED', HISTORIES, () => `${id} is ${file?.stage ?? 'nowhere'}`);
      const places = `{${file.places.join()}}`;
      must(
        shard === file.shard && positions === places,
        HISTORIES,
        () => `${id} consists of ${places} in shard ${file.shard}, not of ${positions} in shard ${shard}`,
      );
    }
  }
}
