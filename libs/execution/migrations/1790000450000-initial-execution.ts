import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * These tables are made from the cells' journals only. Instants are nanoseconds since 1970. `submitted_at` is cut to milliseconds, so
 * lists are sorted as shown. A user has one cell, so a position alone orders a user's rows. `orders.state` leaves out `raw`.
 * `events.seq` counts the events of one order. A synthetic fill has no order. One event may make several fills, the legs.
 */
const TABLES = `
  create schema execution;

  create table execution.projection_offsets (
    shard smallint primary key check (shard >= 0),
    epoch integer not null,
    sequence bigint not null check (sequence >= 0),
    hash bytea not null check (octet_length(hash) = 32)
  );

  create table execution.orders (
    order_id uuid primary key,
    user_id uuid not null,
    submitted_at bigint not null,
    updated_at bigint not null,
    cell smallint not null,
    status text not null,
    exchange_id text not null,
    market_id text not null,
    token_id text,
    side text not null,
    client_order_id text,
    bot_id text,
    source text not null,
    origin text not null,
    state text not null,
    raw text not null
  );

  create table execution.events (
    cell smallint not null,
    position bigint not null,
    user_id uuid not null,
    order_id uuid,
    seq integer,
    payload text not null,
    primary key (cell, position)
  );

  create table execution.fills (
    fill_id uuid primary key,
    user_id uuid not null,
    order_id uuid,
    position bigint not null,
    leg smallint not null,
    cell smallint not null,
    exchange_id text not null,
    market_id text not null,
    record text not null
  );

  create table execution.holdings (
    user_id uuid not null,
    part text not null check (part in ('link', 'cash', 'position', 'transfer', 'difference')),
    key text not null,
    cell smallint not null,
    state text not null,
    primary key (user_id, part, key)
  );
`;

const INDEXES = `
  create index on execution.orders (user_id, submitted_at, order_id);
  create index on execution.orders (user_id, status, submitted_at, order_id);
  create index on execution.orders (user_id, exchange_id, submitted_at, order_id);
  create index on execution.orders (user_id, market_id, submitted_at, order_id);
  create index on execution.orders (user_id, source, submitted_at, order_id);
  create index on execution.orders (user_id, origin, submitted_at, order_id);
  create index on execution.orders (user_id, updated_at);
  create index on execution.orders (user_id, token_id, submitted_at, order_id) where token_id is not null;
  create index on execution.orders (user_id, client_order_id, submitted_at, order_id) where client_order_id is not null;
  create index on execution.orders (user_id, bot_id, submitted_at, order_id) where bot_id is not null;

  create index on execution.events (user_id, cell, position);
  create index on execution.events (order_id, seq) where order_id is not null;

  create index on execution.fills (user_id, position, leg);
  create index on execution.fills (user_id, exchange_id, position, leg);
  create index on execution.fills (user_id, market_id, position, leg);
  create index on execution.fills (order_id, position, leg) where order_id is not null;

  create index on execution.holdings (part, user_id) where part in ('transfer', 'difference');
`;

export class InitialExecution1790000450000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(INDEXES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema execution cascade');
  }
}
