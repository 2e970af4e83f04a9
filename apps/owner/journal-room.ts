import { statfs } from 'node:fs/promises';
import type { Pool } from 'pg';
import type { Config } from '#libs/platform/settings/config.js';
import type { ownerConfig } from './config.js';

const BYTES_PER_MB = 1_048_576;

type RoomSettings = Pick<
  Config<typeof ownerConfig>,
  'JOURNAL_PATH' | 'JOURNAL_MIN_FREE_MB' | 'JOURNAL_MAX_MB'
>;

/** Whether the journal's table and, where it lies on this machine, its disk leave room for what open auctions will still write. */
export function journalRoom(pool: Pool, settings: RoomSettings): () => Promise<boolean> {
  return async () => {
    const { rows } = await pool.query<{ megabytes: number }>(
      `select pg_total_relation_size('journal.records') / 1048576 as megabytes`,
    );
    const size = rows[0]?.megabytes ?? Infinity;
    if (size > settings.JOURNAL_MAX_MB) return false;
    if (settings.JOURNAL_PATH === undefined) return true;
    const disk = await statfs(settings.JOURNAL_PATH);
    return (disk.bavail * disk.bsize) / BYTES_PER_MB >= settings.JOURNAL_MIN_FREE_MB;
  };
}
