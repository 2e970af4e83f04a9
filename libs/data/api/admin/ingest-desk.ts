import { type Clock, pause } from '#libs/platform/time/clock.js';
import { REGISTERED, type Provider } from '../../rules/providers.js';
import { isoTime } from '../../rules/times.js';
import type { AlarmTable } from '../../store/alarm-table.js';
import type { BackfillTable, WantedBackfill } from '../../store/backfill-table.js';
import type { FreshnessTable, IngestProgress } from '../../store/freshness-table.js';
import type { PauseTable } from '../../store/pause-table.js';
import type { RecordedFile, RecordedTable } from '../../store/recorded-table.js';

export interface IngestDeskPorts {
  readonly freshness: Pick<FreshnessTable, 'all'>;
  readonly alarms: Pick<AlarmTable, 'of'>;
  readonly files: Pick<RecordedTable, 'all'>;
  readonly pauses: PauseTable;
  readonly backfills: Pick<BackfillTable, 'add'>;
  readonly clock: Clock;
}

/** The progress of a provider that no source has fed yet. */
const NEVER_FED: IngestProgress = {
  ...{ source: null, state: 'running', isRecorded: false, isQuarantined: false },
  ...{ asOf: null, newestSourceTs: null, journalHead: 0, applied: 0, lagEvents: 0 },
  ...{ gaps: 0, conflicts: 0, quarantined: 0, reachesListing: false, reachesFrom: null },
};

/** Ingest reads these orders once a second. While it is down, nothing is projected anyway. */
const APPLIED_WITHIN_MILLIS = 3_000;
const CHECK_MILLIS = 100;

/** Shows operators the progress of ingest, and passes on pauses and backfills. */
export class IngestDesk {
  constructor(private readonly ports: IngestDeskPorts) {}

  async all(): Promise<object> {
    return { providers: await this.rows(REGISTERED), recorded: (await this.ports.files.all()).map(fileRow) };
  }

  async pause(provider: Provider): Promise<object> {
    await this.ports.pauses.pause(provider);
    await this.waitUntilApplied(provider, (state) => state !== 'running');
    return { providers: await this.rows([provider]) };
  }

  async resume(provider: Provider): Promise<object> {
    await this.ports.pauses.resume(provider);
    await this.waitUntilApplied(provider, (state) => state !== 'paused');
    return { providers: await this.rows([provider]) };
  }

  backfill(wanted: WantedBackfill): Promise<void> {
    return this.ports.backfills.add(wanted);
  }

  private async waitUntilApplied(
    provider: Provider,
    isApplied: (state: IngestProgress['state']) => boolean,
  ): Promise<void> {
    const { clock, freshness } = this.ports;
    for (let waited = 0; waited < APPLIED_WITHIN_MILLIS; waited += CHECK_MILLIS) {
      const progress = (await freshness.all()).get(provider);
      if (progress === undefined || isApplied(progress.state)) return;
      await pause(clock, CHECK_MILLIS);
    }
  }

  private async rows(providers: readonly Provider[]): Promise<object[]> {
    const { freshness, pauses } = this.ports;
    const [known, paused] = await Promise.all([freshness.all(), pauses.paused()]);
    return Promise.all(
      providers.map((provider) => this.row(provider, known.get(provider) ?? NEVER_FED, paused.has(provider))),
    );
  }

  private async row(provider: Provider, progress: IngestProgress, isPaused: boolean): Promise<object> {
    const { source, state, journalHead, applied, lagEvents, newestSourceTs } = progress;
    const alarms = await this.ports.alarms.of(provider);
    return {
      ...{ provider, source, state: state === 'failed' ? state : isPaused ? 'paused' : 'running' },
      ...{ journal_head: journalHead, applied, lag_events: lagEvents },
      newest_source_ts: newestSourceTs === null ? null : isoTime(newestSourceTs),
      ...{ gaps: progress.gaps, conflicts: progress.conflicts, quarantined: progress.quarantined },
      alarms: alarms.map(({ kind, at, detail }) => ({ kind, at: isoTime(at), detail })),
    };
  }
}

function fileRow(recorded: RecordedFile): object {
  return {
    ...{ file: recorded.file, bytes: recorded.bytes, read_bytes: recorded.readBytes, lines: recorded.lines },
    ...{ applied_lines: recorded.appliedLines, refused_count: recorded.refusedCount },
    refused: recorded.refused.map(({ line, reason }) => ({ line, reason })),
  };
}
