import pg from 'pg';
import type { StoredRecord } from '../chain-check.js';

/** The columns of the layout below, in this order. */
export const COPIED_COLUMNS = 'sequence, epoch, kind, payload, hash, seal';

/** A signature, flags and an empty extension: everything before the first row. */
const HEADER_BYTES = 19;
/** Stands in place of the number of columns, after the last row. */
const TRAILER = -1;
const WORD = 2 ** 32;
/** The start of a row: the number of columns, then the length of each before its bytes. */
const SEQUENCE = 6;
const EPOCH = 18;
const KIND_LENGTH = 22;
const LENGTH_BYTES = 4;

/** The driver passes this message to the query. Its types do not declare it. */
interface CopyData {
  readonly chunk: Buffer;
}

/**
 * Reads records by a COPY in PostgreSQL's binary format, one by one. The server then formats no numbers and hashes, and the driver
 * builds no strings and rows: that is most of the cost of reading a whole journal.
 */
export class RecordCopy extends pg.Query {
  private start = HEADER_BYTES;
  private failure: Error | undefined;

  constructor(
    statement: string,
    private readonly take: (record: StoredRecord) => void,
  ) {
    super(`copy (${statement}) to stdout (format binary)`);
  }

  /** Each row is one message. Nothing may be thrown here: it would reach the socket. */
  handleCopyData({ chunk }: CopyData): void {
    const { start } = this;
    this.start = 0;
    if (this.failure !== undefined) return;
    try {
      if (chunk.readInt16BE(start) !== TRAILER) this.take(recordAt(chunk, start));
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Throws the first fault. Records after it were skipped. */
  check(): void {
    if (this.failure !== undefined) throw this.failure;
  }
}

/** The driver reuses the bytes, so everything that is kept is copied. */
function recordAt(bytes: Buffer, start: number): StoredRecord {
  const kindLength = start + KIND_LENGTH;
  const kind = kindLength + LENGTH_BYTES;
  const payloadLength = kind + bytes.readInt32BE(kindLength);
  const payload = payloadLength + LENGTH_BYTES;
  const hashLength = payload + bytes.readInt32BE(payloadLength);
  const hash = hashLength + LENGTH_BYTES;
  const sealLength = hash + bytes.readInt32BE(hashLength);
  const seal = sealLength + LENGTH_BYTES;
  const sealBytes = bytes.readInt32BE(sealLength);
  const sequence = start + SEQUENCE;
  return {
    sequence: bytes.readInt32BE(sequence) * WORD + bytes.readUInt32BE(sequence + LENGTH_BYTES),
    epoch: bytes.readInt32BE(start + EPOCH),
    kind: bytes.toString('latin1', kind, payloadLength),
    payload: bytes.subarray(payload, hashLength),
    hash: bytes.toString('hex', hash, sealLength),
    seal: sealBytes < 0 ? undefined : Buffer.from(bytes.subarray(seal, seal + sealBytes)),
  };
}
