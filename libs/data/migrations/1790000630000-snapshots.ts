import type { MigrationInterface, QueryRunner } from 'typeorm';

const NAME_BYTES = 8_192;
const BODY_BYTES = 4_194_304;
/** Marks a row that is in the newest snapshot. Each market has at most one. */
const STILL_THERE = '9007199254740991';
const NUMBER = (column: string): string =>
  `constraint ${column}_can_be_read check (${column} between -9007199254740991 and 9007199254740991)`;

/**
 * The open markets of each provider every half minute. A market has one row for each of its states, with the first snapshot that
 * has it and the first that does not, so what does not change is written once.
 */
const SNAPSHOTS = `
  create table data.snapshots (
    snapshot_no bigint generated always as identity primary key ${NUMBER('snapshot_no')},
    provider smallint not null,
    made_at bigint not null ${NUMBER('made_at')}
  );
  create index on data.snapshots (provider, snapshot_no);

  create table data.snapshot_markets (
    provider smallint not null,
    market_id text collate "C" not null constraint market_id_has_room check (octet_length(market_id) <= ${NAME_BYTES}),
    from_snapshot bigint not null ${NUMBER('from_snapshot')},
    to_snapshot bigint not null default ${STILL_THERE} ${NUMBER('to_snapshot')},
    market_no bigint not null ${NUMBER('market_no')},
    state jsonb not null constraint state_has_room check (octet_length(state::text) <= ${BODY_BYTES}),
    primary key (provider, market_id, from_snapshot)
  );
  create unique index on data.snapshot_markets (provider, market_id) where to_snapshot = ${STILL_THERE};
  create index on data.snapshot_markets (provider, to_snapshot) where to_snapshot < ${STILL_THERE};
`;

export class Snapshots1790000630000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(SNAPSHOTS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table data.snapshots, data.snapshot_markets');
  }
}
