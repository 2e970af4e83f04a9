import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The longest list that can be read back. No auction has as many events. */
const MOST_POSITIONS = 4_000_000;

/** The families of journals. */
const FAMILY = `family text not null check (family in ('auction', 'execution', 'data'))`;
/** The columns that name the journal of a row. */
const JOURNAL = `
    ${FAMILY},
    shard smallint not null check (shard >= 0)`;

/**
 * `shards.epoch` is the fence: an append holds a share lock on the row and must find its own epoch there. An epoch number may be
 * used without a record, but no record without its epoch. The last record of each append has a MAC (`seal`).
 */
const RECORDS = `
  create schema journal;

  create table journal.shards (${JOURNAL},
    epoch integer not null check (epoch > 0),
    primary key (family, shard)
  );

  create table journal.records (${JOURNAL},
    sequence bigint not null check (sequence > 0),
    epoch integer not null,
    kind text not null check (kind in ('epoch', 'event')),
    payload text not null,
    hash bytea not null check (octet_length(hash) = 32),
    recorded_at timestamptz not null default now(),
    seal bytea,
    primary key (family, shard, sequence)
  );

  create table journal.snapshots (${JOURNAL},
    sequence bigint not null,
    hash bytea not null check (octet_length(hash) = 32),
    format_version integer not null,
    body bytea not null,
    saved_at timestamptz not null default now(),
    primary key (family, shard, sequence)
  );
`;

/**
 * `sealed`: the first record of a shard that has a MAC; a shard without a row was never written. `histories`: the positions of an
 * auction's records, written by the owner before it evicts the auction. Owners can only add rows there, so that an auction that
 * is removed from the projections cannot begin again.
 */
const KNOWN = `
  create table journal.sealed (${JOURNAL},
    sequence bigint not null check (sequence > 0),
    since timestamptz not null default now(),
    primary key (family, shard)
  );

  create table journal.histories (
    auction_id uuid primary key,
    shard smallint not null check (shard >= 0),
    positions bigint[] not null,
    constraint positions_has_room check (cardinality(positions) between 1 and ${MOST_POSITIONS}),
    constraint positions_are_a_list check (
      array_ndims(positions) = 1 and array_lower(positions, 1) = 1 and array_position(positions, null) is null
    ),
    constraint positions_can_be_read check (1 <= all (positions) and ${Number.MAX_SAFE_INTEGER} >= all (positions))
  );
`;

/**
 * `home`: the storage backend of a family that is not in `journal.records`. `witness`: the last record of each shard seen in its
 * topic, and its offset. `restored`: the last record that a restored backup knows. `accepted`: the record up to which a restored
 * database is complete; owners continue directly after it.
 */
const TOPICS = `
  create table journal.home (
    ${FAMILY} primary key,
    cluster_id text not null,
    topic_prefix text not null,
    since timestamptz not null default now()
  );

  create table journal.witness (${JOURNAL},
    sequence bigint not null check (sequence >= 0),
    hash bytea not null check (octet_length(hash) = 32),
    at timestamptz not null default now(),
    epoch integer,
    log_offset bigint check (log_offset >= 0),
    constraint witness_place check ((epoch is null) = (log_offset is null)),
    primary key (family, shard)
  );

  create table journal.restored (${JOURNAL},
    sequence bigint not null check (sequence >= 0),
    hash bytea not null check (octet_length(hash) = 32),
    taken_at timestamptz not null,
    restored_at timestamptz not null default now(),
    primary key (family, shard)
  );

  create table journal.accepted (${JOURNAL},
    sequence bigint not null check (sequence >= 0),
    hash bytea not null check (octet_length(hash) = 32),
    accepted_at timestamptz not null default now(),
    primary key (family, shard)
  );
`;

/**
 * A restored journal continues from an earlier moment with other events, so positions in it are valid only with its incarnation
 * (`life`). `restored_at` is empty in the first incarnation.
 */
const LIFE = `
  create table journal.life (
    is_only boolean primary key default true check (is_only),
    life uuid not null,
    restored_at timestamptz
  );
  insert into journal.life (life) values (gen_random_uuid());
`;

/** Owners record where the journals are when they open the first shard. Only the table role moves existing journals. */
const HOME_STAYS = `
  create function journal.refuse_another_home() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
      return new;
    end if;
    if exists (select from journal.records where family = new.family)
      and not exists (select from journal.home where family = new.family) then
      raise exception 'the journals are here' using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end
  $$;
  create trigger refuse_another_home before insert on journal.home
    for each row execute function journal.refuse_another_home();
`;

export class InitialJournal1790000100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(RECORDS);
    await runner.query(KNOWN);
    await runner.query(TOPICS);
    await runner.query(LIFE);
    await runner.query(HOME_STAYS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema journal cascade');
  }
}
