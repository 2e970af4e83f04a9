import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `keys`: one sealed key per user and venue. A venue account belongs to one user, or its money would be promised twice.
 * `signatures`: what is signed, with which key and for which order. A row is written before the signature is made.
 */
const TABLES = `
  create schema signer;

  create table signer.keys (
    user_id text not null,
    venue text not null,
    account text not null,
    agent text,
    key_id text,
    public_key_pem text,
    sealed bytea not null,
    created_at timestamptz not null,
    primary key (user_id, venue)
  );
  create unique index keys_account on signer.keys (venue, account) where account <> '';

  create table signer.signatures (
    signature_id bigint generated always as identity primary key,
    user_id text not null,
    venue text not null,
    key_id text not null,
    order_id text,
    content text not null,
    body_sha256 text,
    digest bytea not null,
    written_at timestamptz not null
  );
`;

const GUARDS = `
  create function signer.refuse_change() returns trigger language plpgsql as $$
  begin
    raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
  end
  $$;
  create trigger signatures_stay before update or delete or truncate on signer.signatures
  for each statement execute function signer.refuse_change();
`;

export class InitialSigner1790000460000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(GUARDS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema signer cascade');
  }
}
