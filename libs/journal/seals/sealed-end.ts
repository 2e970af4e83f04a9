import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import type { JournalHead } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';
import type { RecordMacs } from './record-macs.js';
import type { QueryConfig } from 'pg';
import type { JournalId } from '../journal-id.js';

/** A journal whose end no owner has written. Another process may have, and every later decision would rest on it. */
export class JournalUnsealed extends StartFault {
  constructor(
    shard: number,
    readonly what: string,
  ) {
    super(
      `shard ${shard}: its journal ends with ${what}. Nothing is written behind it; docs/operate/journals.md says what to do (Seals)`,
      EXIT.damaged,
    );
  }
}

/** Adds the last record that an owner is known to have written, from which the end can be repaired. Other errors stay unchanged. */
export function withLastSealed(error: unknown, shard: number, sealed: number | undefined): unknown {
  const isEnd =
    error instanceof JournalUnsealed ||
    (error instanceof JournalCorrupt && error.sequence > (sealed ?? Infinity));
  if (sealed === undefined || !isEnd) return error;
  const what = error instanceof JournalUnsealed ? error.what : `what is no record of it (${error.message})`;
  return new JournalUnsealed(
    shard,
    `${what}. The last record that is known to be an owner's is ${sealed}: unless a key was taken out of ID_KEY, what stands from ${sealed + 1} on is no owner's and was acknowledged to nobody, and the way back is to take it away from there on`,
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
    throw new JournalUnsealed(
      shard,
      `record ${sequence}, which has no seal: it was written by somebody who is no owner`,
    );
  }
  if (seals.isGood({ ...end, shard }, seal)) return;
  throw new JournalUnsealed(
    shard,
    `record ${sequence}, whose seal no key of ID_KEY has made: put the key back that was taken out of it, behind the first; if none was, it was written by somebody who is no owner`,
  );
}

/** The first record from which a shard's appends have MACs. Only the table role can delete a row. */
export function findSealedFrom({ family, shard }: JournalId): QueryConfig {
  return {
    text: 'select sequence from journal.sealed where family = $1 and shard = $2',
    values: [family, shard],
  };
}

/** The first row stays. */
export function noteSealedFrom({ family, shard }: JournalId, sequence: number): QueryConfig {
  return {
    text: 'insert into journal.sealed (family, shard, sequence) values ($1, $2, $3) on conflict (family, shard) do nothing',
    values: [family, shard, sequence],
  };
}

export interface SealedFromRow {
  readonly sequence: number;
}
