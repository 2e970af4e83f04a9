import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { OperatorBook } from '#libs/execution/api/operators/operator-book.js';
import { SwitchBook, type SwitchPlace } from '#libs/execution/api/operators/switch-book.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { REFUSED, RoleLogins } from '#libs/testing/database/role-logins.js';
import { urlAs } from './database-roles.js';
import { GRANTS } from './grants.js';

const DENIED = '42501';
const END = 'set constraints all immediate';

let logins: RoleLogins;

beforeAll(async () => {
  logins = await RoleLogins.open();
});
afterAll(() => logins.close());

describe('switches, with the login of gateways', () => {
  const user = randomUUID();
  const halted = (columns = '', values = ''): string =>
    `insert into execution_control.switches (exchange_id${columns}, mode) values ('venue_b'${values}, 'halted')`;
  const booked = (input: object, action = 'switches.set'): string =>
    `insert into execution_control.operator_actions (operator, action, input, reason, request_id)
     values (gen_random_uuid(), '${action}', '${JSON.stringify(input)}', 'drill', 'r')`;
  const asSaid = booked({ exchangeId: 'venue_b', mode: 'halted' });

  it('are not set without an entry in the log of operators', async () => {
    for (const [deed, comes] of [
      [halted(), REFUSED],
      [`${asSaid}; ${halted()}`, 'done'],
      [`${halted()}; ${asSaid}`, 'done'],
      [`${booked({ exchangeId: 'venue_b', mode: 'halted' }, 'keys.revoke')}; ${halted()}`, REFUSED],
    ] as const)
      expect([deed, await logins.attempt('gateway', `${deed}; ${END}`)]).toEqual([deed, comes]);
  });

  it('are set only as the entry says', async () => {
    for (const [columns, values] of [
      [', side', `, 'buy'`],
      [', kind', `, 'limit'`],
      [', time_in_force', `, 'GTC'`],
      [', user_id', `, '${user}'`],
      [', resumes_at', ', now()'],
    ])
      expect(await logins.attempt('gateway', `${asSaid}; ${halted(columns, values)}; ${END}`)).toBe(REFUSED);
    for (const other of [{ mode: 'halted' }, { exchangeId: 'venue_b', mode: 'on' }])
      expect(await logins.attempt('gateway', `${booked(other)}; ${halted()}; ${END}`)).toBe(REFUSED);
  });

  it('are not reset by an earlier entry, and their start time cannot be set', async () => {
    const pool = openPool(urlAs(logins.database.url, 'gateway', logins.passwords.gateway), {
      ...{ applicationName: 'gateway-login', max: 1 },
    });
    try {
      await pool.query(booked({ exchangeId: 'venue_e', mode: 'on' }));
      await setBy(pool, { exchangeId: 'venue_e' }, 'halted');
      const back = `update execution_control.switches set mode = 'on' where exchange_id = 'venue_e'`;
      await expect(pool.query(back)).rejects.toMatchObject({ code: REFUSED });
      const long = `update execution_control.switches set since = '2001-01-01'`;
      await expect(pool.query(long)).rejects.toMatchObject({ code: DENIED });
      const gone = 'delete from execution_control.switches';
      await expect(pool.query(gone)).rejects.toMatchObject({ code: DENIED });
    } finally {
      await pool.end();
    }
  });

  it('can be set by operators at every level of the tree', async () => {
    const pool = openPool(urlAs(logins.database.url, 'gateway', logins.passwords.gateway), {
      ...{ applicationName: 'gateway-login', max: 1 },
    });
    try {
      const resumesAt = '2026-12-01T10:00:00.123456789Z';
      for (const place of [
        {},
        { exchangeId: 'venue_b' },
        { exchangeId: 'venue_b', side: 'sell', kind: 'market', timeInForce: 'FAK', userId: user },
      ] as const)
        for (const mode of ['halted', 'on'] as const)
          expect(await setBy(pool, place, mode, resumesAt)).toMatchObject({ ...place, mode });
    } finally {
      await pool.end();
    }
  });

  function setBy(
    pool: pg.Pool,
    place: SwitchPlace,
    mode: 'halted' | 'on',
    resumesAt?: string,
  ): Promise<Record<string, unknown>> {
    const input = { ...place, mode, ...(resumesAt === undefined ? {} : { resumesAt }), reason: 'drill' };
    const deed = { operator: randomUUID(), action: 'switches.set', input, reason: 'drill', request_id: 'r' };
    const switches = new SwitchBook(pool, new SystemClock());
    return new OperatorBook(pool).act(deed, (client) => switches.set(client, place, mode, resumesAt));
  }
});

it.each([
  ['cell', 'execution', 'done'],
  ['cell', 'auction', DENIED],
  ['owner', 'auction', 'done'],
  ['owner', 'execution', DENIED],
  ['ingest', 'data', 'done'],
  ['ingest', 'auction', DENIED],
] as const)('%s sets where the journals of %s are: %s', async (role, family, comes) => {
  const home = `insert into journal.home (family, cluster_id, topic_prefix) values ('${family}', 'c', 't')`;
  expect(await logins.attempt(role, home)).toBe(comes);
});

describe('journals, with the logins of cells, owners and ingest', () => {
  const HASH = `decode(repeat('00', 32), 'hex')`;
  const OWN = { cell: 'execution', owner: 'auction', ingest: 'data' } as const;
  const FOREIGN = {
    cell: ['auction', 'data'],
    owner: ['execution', 'data'],
    ingest: ['auction', 'execution'],
  } as const;
  const added = (family: string): readonly string[] => [
    `insert into journal.shards (family, shard, epoch) values ('${family}', 9, 1)`,
    `insert into journal.records (family, shard, sequence, epoch, kind, payload, hash)
     values ('${family}', 9, 1, 1, 'event', '{}', ${HASH})`,
    `insert into journal.sealed (family, shard, sequence) values ('${family}', 9, 1)`,
    `insert into journal.snapshots (family, shard, sequence, hash, format_version, body) values ('${family}', 9, 1, ${HASH}, 1, '')`,
    `insert into journal.witness (family, shard, sequence, hash) values ('${family}', 9, 1, ${HASH})`,
    `insert into journal.accepted (family, shard, sequence, hash) values ('${family}', 9, 1, ${HASH})`,
  ];
  /** Ingest keeps no snapshots and restores nothing. */
  const LESS = /snapshots|sealed|accepted|restored/;
  const heldBy = (role: keyof typeof OWN, statements: readonly string[]): readonly string[] =>
    statements.filter((statement) => role !== 'ingest' || !LESS.test(statement));
  const CHANGED = [
    `update journal.shards set epoch = epoch + 1`,
    `update journal.witness set sequence = 7`,
    `update journal.accepted set sequence = 7`,
    `delete from journal.snapshots`,
    `delete from journal.restored`,
  ];
  const WITH_FAMILY = Object.keys(GRANTS).filter(
    (table) => table.startsWith('journal.') && !/\.(life|histories)$/.test(table),
  );

  beforeAll(async () => {
    const restored = `insert into journal.restored (family, shard, sequence, hash, taken_at)`;
    for (const family of ['auction', 'execution', 'data']) {
      for (const statement of added(family)) await logins.database.pool.query(statement);
      await logins.database.pool.query(`${restored} values ('${family}', 9, 1, ${HASH}, now())`);
      await logins.database.pool.query(`insert into journal.home values ('${family}', 'c', 't')`);
    }
  });

  it.each(['cell', 'owner', 'ingest'] as const)(
    '%s adds only to journals of its own family',
    async (role) => {
      const here = (statement: string): string => statement.replaceAll(/\b9, /g, '8, ');
      for (const statement of heldBy(role, added(OWN[role])).map(here))
        expect([statement, await logins.attempt(role, statement)]).toEqual([statement, 'done']);
      for (const statement of FOREIGN[role].flatMap((family) => added(family)).map(here))
        expect([statement, await logins.attempt(role, statement)]).toEqual([statement, DENIED]);
    },
  );

  it.each(['cell', 'owner', 'ingest'] as const)(
    '%s changes and removes only rows of its own family',
    async (role) => {
      const client = await logins.connect(role, logins.passwords[role]);
      try {
        for (const statement of heldBy(role, CHANGED)) {
          await client.query('begin');
          const { rows } = await client.query<{ family: string }>(`${statement} returning family`);
          expect([statement, rows.map(({ family }) => family)]).toEqual([statement, [OWN[role]]]);
          await client.query('rollback');
        }
      } finally {
        await client.end();
      }
    },
  );

  it.each([
    ['owner', ['auction']],
    ['settler', ['auction']],
    ['cell', ['execution']],
    ['ingest', ['data']],
    ['gateway', ['auction', 'execution']],
    ['projector', ['auction', 'execution']],
    ['operations', ['auction', 'data', 'execution']],
  ] as const)('%s reads rows of %j in all its tables, and of no other family', async (role, families) => {
    const readable = WITH_FAMILY.filter((table) => GRANTS[table]?.[role]?.includes('select'));
    expect(readable).not.toEqual([]);
    const client = await logins.connect(role, logins.passwords[role]);
    try {
      for (const table of readable) {
        const { rows } = await client.query<{ family: string }>(
          `select family from ${table} order by family`,
        );
        expect([table, rows.map(({ family }) => family)]).toEqual([table, families]);
      }
    } finally {
      await client.end();
    }
  });

  it.each(['data', 'signer'] as const)('%s reads no journal', async (role) => {
    for (const table of WITH_FAMILY)
      expect([table, await logins.attempt(role, `select family from ${table}`)]).toEqual([table, DENIED]);
  });

  it('a cell cannot write the histories of auctions', async () => {
    const history = `insert into journal.histories values (gen_random_uuid(), 0, '{1}')`;
    expect(await logins.attempt('cell', history)).toBe(DENIED);
  });
});
