import type { PolicyWatch } from '../admission/policy/policy-watch.js';
import type { PreflightDesk, ReservationDesk } from '../admission/reservation-desk.js';
import type { JournalReader, JournalWriter } from '#libs/journal/journal.js';
import type { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import type { OwnerLink } from '#libs/auction/protocol/protocol.js';
import type { JournalNotice } from '#libs/link/journal-notices.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import type { IdFactory } from './ids.js';
import type {
  AuctionHistories,
  AwardConclusion,
  CompletedAuctions,
  ProtectionDesk,
  ShardMeter,
} from './ports.js';

/** Everything outside the shard's own memory, provided by its process. */
export interface ShardPorts {
  readonly shard: number;
  readonly clock: Clock;
  readonly writer: JournalWriter;
  readonly reader: JournalReader;
  readonly snapshots: SealedSnapshots;
  readonly desk: ReservationDesk;
  readonly preflight: PreflightDesk;
  readonly policy: PolicyWatch;
  readonly ids: IdFactory;
  readonly completed: CompletedAuctions;
  readonly histories: AuctionHistories;
  readonly conclusion: AwardConclusion;
  readonly protection: ProtectionDesk;
  /** The other owners by shard. */
  readonly peers: ReadonlyMap<number, OwnerLink>;
  /** The database's clock. */
  readonly referenceNanos: () => Promise<bigint>;
  readonly journalHasRoom: () => Promise<boolean>;
  readonly meter: ShardMeter;
  /** Announces the durable head. Readers may read up to it. */
  readonly announce: (notice: JournalNotice) => void;
  readonly settings: ShardSettings;
  /** Another process owns the journal, or it is unknown what was written. The process must stop. */
  readonly onJournalFailure: (error: unknown) => void;
  readonly onFault: (part: string, error: unknown) => void;
  /** Without it, this shard is not traced. */
  readonly tracing?: Tracing;
}

export interface ShardSettings {
  readonly activeAuctionLimit: number;
  readonly commandsPerMakerLimit: number;
  readonly limitsFactor: number;
  /** Events between one snapshot and the next. */
  readonly snapshotEvery: number;
  readonly maxClockOffsetMillis: number;
  readonly maxProjectionLagEvents: number;
  readonly maxProjectionLagMillis: number;
}
