import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The longest list that can still be read: no auction has as many events. */
const MOST_POSITIONS = 4_000_000;

/** A family whose journals there may be. */
const FAMILY = `family text not null check (family in ('auction', 'execution', 'data'))`;
/** Which journal a row is of. */
const JOURNAL = `
    ${FAMILY},
    shard smallint not null check (shard >= 0)`;

/**
 * `shards.epoch` is the fence: anyone who appends holds the row's share lock and finds its own epoch there. An epoch may be spent without
 * a record, never the other way round. The last record of each append has a seal.
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
 * - `sealed`: from which record on a shard is sealed. A shard without a row has never been written.
 * - `histories`: of which records an auction is made, written by the owner before it forgets the auction. Owners may add here and take
 *   nothing away: whoever takes an auction out of the projections cannot have it begin anew.
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
 * - `home`: says of a family where its journals are when that is not `journal.records`.
 * - `witness`: the last record of each shard that this database has seen in its topic, and where it stands there. A new topic has no place.
 * - `restored`: this database came back from a backup while its journals are in Kafka; the record is the last that the backup knew.
 * - `accepted`: the record up to which a restored database was found to have everything. Owners go on after that very record although the
 *   topic was last written for the database that was lost.
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
 * A journal that was restored from a backup goes on from an earlier moment with other events: anyone who names a position in it has to say
 * which life is meant. `restored_at` is empty in the first life.
 */
const LIFE = `
  create table journal.life (
    is_only boolean primary key default true check (is_only),
    life uuid not null,
    restored_at timestamptz
  );
  insert into journal.life (life) values (gen_random_uuid());
`;

/** Owners say where the journals are when they begin the first; only the owner of the tables moves journals that exist. */
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
