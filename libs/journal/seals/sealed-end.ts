import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import type { JournalHead } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';
import type { RecordMacs } from './record-macs.js';
import type { QueryConfig } from 'pg';
import type { JournalId } from '../journal-id.js';

/** No owner has written the end of the journal. Another process may have, and every later decision would rest on it. */
export class JournalUnsealed extends StartFault {
  constructor(
    shard: number,
    readonly what: string,
  ) {
    super(
      `shard ${shard}: its journal ends with ${what}. Nothing is written after it; see docs/operate/journals.md (Seals)`,
      EXIT.damaged,
    );
  }
}

/** Adds the last record that an owner is known to have written, so that the end can be repaired. Other errors stay unchanged. */
export function withLastSealed(error: unknown, shard: number, sealed: number | undefined): unknown {
  const isEnd =
    error instanceof JournalUnsealed ||
    (error instanceof JournalCorrupt && error.sequence > (sealed ?? Infinity));
  if (sealed === undefined || !isEnd) return error;
  const what =
    error instanceof JournalUnsealed ? error.what : `something that is no record of it (${error.message})`;
  return new JournalUnsealed(
    shard,
    `${what}. The last record that an owner is known to have written is ${sealed}. Unless a key was removed from ID_KEY, no owner has written the records from ${sealed + 1} on, and they were never acknowledged: remove them`,
  );
}

/** The last record of a journal, unchecked. */
export interface FoundEnd extends JournalHead {
  readonly seal: Buffer | undefined;
}

/**
 * For a writer, before it appends. A shard without a row in `journal.sealed` is trusted as it is; the table role deletes the row to
 * have a journal trusted again. With a row, the last record needs the MAC of an owner's key.
 */
export function checkEnd(
  seals: RecordMacs,
  shard: number,
  end: FoundEnd,
  sealedFrom: number | undefined,
): void {
  if (sealedFrom === undefined) return;
  const { sequence, seal } = end;
  if (sequence < sealedFrom) {
    throw new JournalUnsealed(shard, `record ${sequence}, and is known to be sealed from ${sealedFrom} on`);
  }
  if (seal === undefined) {
    throw new JournalUnsealed(shard, `record ${sequence}, which has no seal: no owner has written it`);
  }
  if (seals.isGood({ ...end, shard }, seal)) return;
  throw new JournalUnsealed(
    shard,
    `record ${sequence}, whose seal no key of ID_KEY has made: if a key was removed from ID_KEY, put it back after the first; otherwise no owner has written it`,
  );
}

/** The first record from which a shard's appends have MACs. Only the table role can delete a row. */
export function findSealedFrom({ family, shard }: JournalId): QueryConfig {
  return {
    text: 'select sequence from journal.sealed where family = $1 and shard = $2',
    values: [family, shard],
  };
}

/** The first row of a shard stays. */
export function noteSealedFrom({ family, shard }: JournalId, sequence: number): QueryConfig {
  return {
    text: 'insert into journal.sealed (family, shard, sequence) values ($1, $2, $3) on conflict (family, shard) do nothing',
    values: [family, shard, sequence],
  };
}

export interface SealedFromRow {
  readonly sequence: number;
}
