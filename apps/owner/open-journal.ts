import type { Pool } from 'pg';
import type { Journal, JournalReader } from '#libs/journal/journal.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { openJournalStore } from '#libs/journal/stores/open-journal-store.js';
import { keyBytes } from '#libs/platform/settings/setting-types.js';
import { SHARDS } from '#libs/auction/protocol/routing.js';
import { statfs } from 'node:fs/promises';
import type { Config } from '#libs/platform/settings/config.js';
import type { WriterParts } from '#libs/shard/writer-server.js';
import type { ownerConfig } from './config.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';

/** What an owner's process has before it opens anything. */
export interface OwnerParts extends WriterParts {
  readonly config: Config<typeof ownerConfig>;
  readonly tracing: Tracing;
}

export interface OwnerJournal {
  readonly journal: Journal;
  readonly reader: JournalReader;
  readonly hasRoom: () => Promise<boolean>;
}

/** Opens the shard's journal in its storage backend. The room of Kafka is for its operators to watch. */
export async function openOwnerJournal(
  { config, clock, log, scope }: OwnerParts,
  pool: Pool,
): Promise<OwnerJournal> {
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
  const { DATABASE_URL: databaseUrl, INSTANCE: instance } = config;
  const seals = new RecordMacs('auction', keyBytes(config.ID_KEY));
  const ports = { family: 'auction', databaseUrl, pool, instance, shards, seals } as const;
  const tell = (line: string): void => log.warn(line);
  const store = await openJournalStore(config, { ...ports, clock, tell, stopping: scope.stopping });
  scope.onStop('journal store', () => store.close());
  const isOurs = store.kind === 'postgres';
  return {
    journal: store.journalOf(instance, (error) => {
      log.warn({ err: error }, 'the external checkpoint of the journal could not be written');
    }),
    reader: store.reader,
    hasRoom: isOurs ? journalRoom(pool, config) : () => Promise.resolve(true),
  };
}

const BYTES_PER_MB = 1_048_576;

type RoomSettings = Pick<
  Config<typeof ownerConfig>,
  'JOURNAL_PATH' | 'JOURNAL_MIN_FREE_MB' | 'JOURNAL_MAX_MB'
>;

/** Whether table and local disk have room for what open auctions will still write. */
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
