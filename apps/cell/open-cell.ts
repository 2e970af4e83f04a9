import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { checkCellCount } from '#libs/execution/cell/adapters/cell-count.js';
import { SwitchTable } from '#libs/execution/cell/adapters/switch-table.js';
import type { Cell } from '#libs/execution/cell/cell.js';
import { composeCell } from '#libs/execution/cell/compose-cell.js';
import { cellOf } from '#libs/execution/protocol/routing.js';
import type { JournalWriter } from '#libs/journal/journal.js';
import { PostgresSnapshotStore } from '#libs/journal/postgres/postgres-snapshots.js';
import { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { openJournalStore } from '#libs/journal/stores/open-journal-store.js';
import { VaultTransfers } from '#libs/ledger/vault-transfers.js';
import type { JournalNotice } from '#libs/link/journal-notices.js';
import { refuseUnfitDatabase } from '#libs/platform/database/fit-database.js';
import { quietly } from '#libs/platform/process/log.js';
import { keyBytes } from '#libs/platform/settings/setting-types.js';
import { repeat } from '#libs/platform/time/clock.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import type { WriterParts } from '#libs/shard/writer-server.js';
import { CellMetrics } from './cell-metrics.js';
import type { cellConfig } from './config.js';

/** What a cell's process has before it opens anything. */
export interface CellParts extends WriterParts {
  readonly config: Config<typeof cellConfig>;
  readonly tracing: Tracing;
}

export interface OpenParts extends CellParts {
  readonly pool: Pool;
  readonly announce: (notice: JournalNotice) => void;
  readonly onJournalFailure: (error: unknown) => void;
}

const FAMILY = 'execution';
const HEALTH_CHECK_MILLIS = 200;
const CONFIRM_MILLIS = 5_000;

/** Becomes the cell's only writer and connects its adapters. Resources close in reverse order of opening. */
export async function openCell(parts: OpenParts): Promise<Cell> {
  const { config, log, registry, clock, pool, scope, tracing, announce, onJournalFailure } = parts;
  await refuseUnfitDatabase(pool);
  await checkCellCount(pool, config.CELLS);
  const { INSTANCE: instance, DATABASE_URL: databaseUrl } = config;
  const keys = keyBytes(config.ID_KEY);
  const shards = Array.from({ length: config.CELLS }, (_, cell) => cell);
  const seals = new RecordMacs(FAMILY, keys);
  const store = await openJournalStore(config, {
    ...{ family: FAMILY, databaseUrl, pool, instance, shards, seals, clock, stopping: scope.stopping },
    tell: (line) => {
      log.warn(line);
    },
  });
  scope.onStop('journal store', () => store.close());
  const journal = store.journalOf(instance, (err) => {
    log.warn({ err }, 'the external checkpoint of the journal could not be written');
  });
  const writer = await journal.open(config.CELL);
  scope.onStop('journal', () => writer.close());
  watchJournal(parts, writer);
  const opened: { cell?: Cell } = {};
  const meter = new CellMetrics(registry, () => opened.cell);
  const onFault = quietly((part: string, err: unknown) => {
    log.error({ err, part }, 'a part of the cell failed');
  }, clock);
  const cell = composeCell({
    isOurs: (user_id) => cellOf(user_id, config.CELLS) === config.CELL,
    ...{ cell: config.CELL, clock, random: randomBytes, writer, reader: store.reader },
    snapshots: new SealedSnapshots({
      ...{ family: FAMILY, store: new PostgresSnapshotStore(pool, FAMILY), keys },
      onRefused: (refused) => {
        log.warn(refused, 'a snapshot is not used');
      },
    }),
    ...{
      switches: new SwitchTable(pool),
      vault: new VaultTransfers(pool),
      meter,
      announce,
      onJournalFailure,
      onFault,
      tracing,
    },
    settings: {
      limitsFactor: config.LIMITS_FACTOR,
      snapshotEvery: config.SNAPSHOT_EVERY_EVENTS,
      stalledAfterMillis: config.STALLED_AFTER_MS,
    },
  });
  opened.cell = cell;
  return cell;
}

/** Notices a lost journal, or another writer, even while no command comes in. */
function watchJournal({ clock, scope, onJournalFailure }: OpenParts, writer: JournalWriter): void {
  const stopHealthChecks = repeat(clock, HEALTH_CHECK_MILLIS, () => {
    const health = writer.health();
    if (!health.ok) onJournalFailure(new Error(health.reason));
    return Promise.resolve();
  });
  const stopConfirming = repeat(clock, CONFIRM_MILLIS, () => writer.confirm().catch(() => undefined));
  scope.onStop('journal watch', () => {
    stopHealthChecks();
    stopConfirming();
  });
}
