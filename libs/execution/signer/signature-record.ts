import type { Pool } from 'pg';
import { plusMillis, type Instant } from '#libs/base/instant.js';
import { Batcher } from '#libs/platform/database/batcher.js';

/** A signature that is about to be made. */
export interface WrittenSignature {
  readonly user_id: string;
  readonly venue: string;
  readonly key_id: string;
  readonly order_id: string | undefined;
  readonly content: string;
  readonly body_sha256: string | undefined;
  readonly digest: Uint8Array;
  readonly written_at: Instant;
}

const MOST_AT_ONCE = 256;
/** How long signatures of reads are kept: long enough to see recent requests. */
export const READS_KEPT_MILLIS = 3_600_000;
const MOST_FORGOTTEN_AT_ONCE = 10_000;

/**
 * Records every signature before it is made. Waiting signatures share one commit. Signatures that change anything are
 * kept for ever, those of reads for an hour.
 */
export class SignatureRecord {
  private readonly signatures = new Batcher<WrittenSignature, undefined>(
    (signatures) => this.writeAll(signatures),
    MOST_AT_ONCE,
  );
  private readonly reads = new Batcher<WrittenSignature, undefined>(
    (reads) => this.writeReads(reads),
    MOST_AT_ONCE,
  );
  private total = 0;

  constructor(private readonly pool: Pool) {}

  /** Number of signatures recorded since this process started. */
  get written(): number {
    return this.total;
  }

  /** Resolves when it is durable. */
  async write(signature: WrittenSignature): Promise<void> {
    await this.signatures.answer(signature);
  }

  /** Records a request that changes nothing. Resolves when it is durable. */
  async writeRead(signature: WrittenSignature): Promise<void> {
    await this.reads.answer(signature);
  }

  /** Deletes expired reads, the oldest first, a limited number at a time. */
  async forgetReads(now: Instant): Promise<void> {
    await this.pool.query(
      `delete from signer.read_signatures where signature_id = any(array(
         select signature_id from signer.read_signatures where written_at < $1::timestamptz order by written_at limit $2))`,
      [plusMillis(now, -READS_KEPT_MILLIS), MOST_FORGOTTEN_AT_ONCE],
    );
  }

  private async writeAll(signatures: readonly WrittenSignature[]): Promise<undefined[]> {
    await this.pool.query(
      `insert into signer.signatures (user_id, venue, key_id, content, digest, written_at, order_id, body_sha256)
       select * from unnest(
         $1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::timestamptz[], $7::text[], $8::text[])`,
      [
        ...columnsOf(signatures),
        signatures.map(({ order_id: id }) => id ?? null),
        signatures.map(({ body_sha256: hash }) => hash ?? null),
      ],
    );
    return this.counted(signatures);
  }

  private async writeReads(reads: readonly WrittenSignature[]): Promise<undefined[]> {
    await this.pool.query(
      `insert into signer.read_signatures (user_id, venue, key_id, content, digest, written_at)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::timestamptz[])`,
      columnsOf(reads),
    );
    return this.counted(reads);
  }

  private counted(written: readonly WrittenSignature[]): undefined[] {
    this.total += written.length;
    return written.map(() => undefined);
  }
}

/** The columns that both tables have. */
function columnsOf(signatures: readonly WrittenSignature[]): unknown[] {
  return [
    signatures.map(({ user_id: id }) => id),
    signatures.map(({ venue }) => venue),
    signatures.map(({ key_id: id }) => id),
    signatures.map(({ content }) => content),
    signatures.map(({ digest }) => Buffer.from(digest)),
    signatures.map(({ written_at: at }) => at),
  ];
}
