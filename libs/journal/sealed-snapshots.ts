import { createHmac, type KeyObject } from 'node:crypto';
import { nextTurn } from '#libs/platform/time/clock.js';
import type { JournalEntry, JournalHead, JournalReader } from './journal.js';
import type { JournalFamily } from './journal-id.js';
import { isOneOf, sealingKey } from './seals/record-macs.js';

const SEAL_BYTES = 32;
/** No other key is derived with this purpose, so no other use of the secret yields such a MAC. */
const PURPOSE = 'sotto snapshot seal';
/** A large snapshot that is hashed at once would delay commands. */
const SLICE_BYTES = 1_048_576;

/**
 * Why a snapshot is not used. `format`: it has another version. `journal`: its record is not in this journal. `seal`: its MAC is
 * from none of our keys.
 */
export const REFUSALS = ['format', 'journal', 'seal'] as const;

export interface RefusedSnapshot {
  readonly shard: number;
  readonly sequence: number;
  readonly reason: (typeof REFUSALS)[number];
}

export interface SealedSnapshotsOptions {
  readonly family: JournalFamily;
  readonly store: SnapshotStore;
  /** The first key authenticates new snapshots; those of any key are trusted. */
  readonly keys: readonly [Buffer, ...Buffer[]];
  readonly onRefused: (refused: RefusedSnapshot) => void;
}

/** The content of a snapshot, and the record after which it was taken. */
export interface TrustedSnapshot {
  readonly sequence: number;
  readonly hash: string;
  readonly content: Buffer;
}

interface SnapshotPosition extends JournalHead {
  readonly shard: number;
  readonly formatVersion: number;
}

/**
 * Snapshots with a MAC. Owners recover from them without reading earlier records, so write access to their table must not be enough
 * to decide an auction.
 */
export class SealedSnapshots {
  private readonly keys: readonly KeyObject[];

  constructor(private readonly options: SealedSnapshotsOptions) {
    this.keys = options.keys.map((secret) => sealingKey(secret, PURPOSE));
  }

  async save(shard: number, head: JournalHead, formatVersion: number, content: Buffer): Promise<void> {
    const seal = await this.sealOf(this.keys.slice(0, 1), { ...head, shard, formatVersion }, content);
    const body = Buffer.concat([...seal, content]);
    const { sequence, hash } = head;
    await this.options.store.save(shard, { sequence, hash, formatVersion, body });
  }

  /** The newest trusted snapshot of this format and this journal, up to `upTo`. Without one, recovery reads the journal from its start. */
  async trusted(
    reader: JournalReader,
    shard: number,
    formatVersion: number,
    upTo: number,
  ): Promise<TrustedSnapshot | undefined> {
    const { store, onRefused } = this.options;
    let snapshot = await store.latest(shard);
    while (snapshot !== undefined) {
      const { sequence, hash } = snapshot;
      const reason = await this.refusalOf(snapshot, reader, shard, formatVersion);
      if (reason === undefined && sequence <= upTo) {
        return { sequence, hash, content: sealedContent(snapshot) };
      }
      if (reason !== undefined) onRefused({ shard, sequence, reason });
      snapshot = await store.latest(shard, sequence);
    }
    return undefined;
  }

  private async refusalOf(
    snapshot: Snapshot,
    reader: JournalReader,
    shard: number,
    formatVersion: number,
  ): Promise<RefusedSnapshot['reason'] | undefined> {
    if (snapshot.formatVersion !== formatVersion) return 'format';
    const record = await recordBehind(reader, shard, snapshot);
    if (record === undefined) return 'journal';
    const { epoch, sequence, hash } = record;
    const covered = { shard, epoch, sequence, hash, formatVersion };
    const storedMac = snapshot.body.subarray(0, SEAL_BYTES);
    const seals = await this.sealOf(this.keys, covered, sealedContent(snapshot));
    return isOneOf(seals, storedMac) ? undefined : 'seal';
  }

  /** One for each key. Only the content, which comes last, has a space or a line feed, so no two snapshots look alike. */
  private async sealOf(
    keys: readonly KeyObject[],
    { formatVersion, shard, epoch, sequence, hash }: SnapshotPosition,
    content: Buffer,
  ): Promise<Buffer[]> {
    const seals = keys.map((key) => createHmac('sha256', key));
    const covered = [this.options.family, formatVersion, shard, epoch, sequence, hash].join(' ');
    for (const seal of seals) seal.update(`${covered}\n`);
    for (let from = 0; from < content.length; from += SLICE_BYTES) {
      if (from > 0) await nextTurn();
      for (const seal of seals) seal.update(content.subarray(from, from + SLICE_BYTES));
    }
    return seals.map((seal) => seal.digest());
  }
}

/** The content of a stored snapshot, unchecked: for readers without a key that decide nothing by it. */
export function sealedContent({ body }: Snapshot): Buffer {
  return body.subarray(SEAL_BYTES);
}

/** A shard's state after one record, so that recovery need not begin at the first. */
export interface Snapshot {
  readonly sequence: number;
  /** Hash of the record at `sequence`: ties the state to this journal and no other. */
  readonly hash: string;
  readonly formatVersion: number;
  /** A MAC and the content that it covers: see `SealedSnapshots`. */
  readonly body: Buffer;
}

/** Keeps the last two of every shard. All of them may be deleted at any time. */
export interface SnapshotStore {
  save(shard: number, snapshot: Snapshot): Promise<void>;
  /** The newest, or the newest before `before`. Its content is not checked: see `SealedSnapshots`. */
  latest(shard: number, before?: number): Promise<Snapshot | undefined>;
}

/** The record after which the snapshot was taken, if the journal has it. */
export async function recordBehind(
  reader: JournalReader,
  shard: number,
  { sequence, hash }: Pick<Snapshot, 'sequence' | 'hash'>,
): Promise<JournalEntry | undefined> {
  const [entry] = await reader.read(shard, sequence, 1);
  return entry?.hash === hash ? entry : undefined;
}
