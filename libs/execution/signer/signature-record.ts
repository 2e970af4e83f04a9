import type { Pool } from 'pg';
import type { Instant } from '#libs/base/instant.js';
import { Batcher } from '#libs/platform/database/batcher.js';

/** What is about to be signed. */
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

/** Every signature stands here before it is made. Those that wait are written together: one commit for all of them. */
export class SignatureRecord {
  private readonly batcher: Batcher<WrittenSignature, undefined>;
  private total = 0;

  constructor(private readonly pool: Pool) {
    this.batcher = new Batcher((signatures) => this.writeAll(signatures), MOST_AT_ONCE);
  }

  /** Since this process began. */
  get written(): number {
    return this.total;
  }

  /** Resolves when it is durable. */
  async write(signature: WrittenSignature): Promise<void> {
    await this.batcher.answer(signature);
  }

  private async writeAll(signatures: readonly WrittenSignature[]): Promise<undefined[]> {
    const column = <K extends keyof WrittenSignature>(name: K): WrittenSignature[K][] =>
      signatures.map((signature) => signature[name]);
    await this.pool.query(
      `insert into signer.signatures (user_id, venue, key_id, order_id, content, body_sha256, digest, written_at)
       select * from unnest(
         $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::timestamptz[])`,
      [
        column('user_id'),
        column('venue'),
        column('key_id'),
        column('order_id').map((id) => id ?? null),
        column('content'),
        column('body_sha256').map((hash) => hash ?? null),
        column('digest').map((digest) => Buffer.from(digest)),
        column('written_at'),
      ],
    );
    this.total += signatures.length;
    return signatures.map(() => undefined);
  }
}
