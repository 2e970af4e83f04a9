import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Signatures of requests that only read. They are many and change nothing, so the signer deletes old ones. */
const TABLE = `
  create table signer.read_signatures (
    signature_id bigint generated always as identity primary key,
    user_id text not null,
    venue text not null,
    key_id text not null,
    content text not null,
    digest bytea not null,
    written_at timestamptz not null
  );
  create index read_signatures_age on signer.read_signatures (written_at);
`;

export class ReadSignatures1790000495000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table signer.read_signatures');
  }
}
