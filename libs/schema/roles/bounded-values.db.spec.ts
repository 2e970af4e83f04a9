import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DatabaseRole } from './grants.js';
import { REFUSED, RoleLogins } from '#libs/testing/database/role-logins.js';

const OUT_OF_BOUNDS = '23514';
const LAST_INTEGER = 2_147_483_647;
const BEYOND_NUMBERS = '9007199254740992';

let logins: RoleLogins;
const attempt = (role: DatabaseRole, statement: string): Promise<string> => logins.attempt(role, statement);

beforeAll(async () => {
  logins = await RoleLogins.open();
  await logins.database.pool.query(`insert into journal.shards values ('auction', 0, 5), ('auction', 1, 5)`);
  await logins.database.pool.query('insert into risk.shard_fence values (0, 5)');
});

afterAll(() => logins.close());

const shardTo = (epoch: number | string): string =>
  `update journal.shards set epoch = ${epoch} where shard = 0`;
const fenceTo = (epoch: number | string): string =>
  `update risk.shard_fence set epoch = ${epoch} where shard = 0`;
const inKafka = `insert into journal.home (family, cluster_id, topic_prefix) values ('auction', 'c', 't')`;

describe('the login of owners', () => {
  it('cannot set an epoch so high that none can follow, however often it raises it', async () => {
    expect(await attempt('owner', shardTo(6))).toBe('done');
    expect(await attempt('owner', shardTo(LAST_INTEGER))).toBe(REFUSED);
    expect(await attempt('owner', shardTo(LAST_INTEGER - 1))).toBe(REFUSED);
    expect(await attempt('owner', `insert into journal.shards values ('auction', 2, ${LAST_INTEGER})`)).toBe(
      REFUSED,
    );
    const seconds = 'floor(extract(epoch from now()) - 1767225600)::int';
    expect(
      await attempt('owner', `${shardTo(`1000000 + ${seconds}`)}; ${shardTo(`1001000 + ${seconds}`)}`),
    ).toBe(REFUSED);
  });

  it('cannot lower an epoch, after which no owner could begin', async () => {
    expect(await attempt('owner', shardTo(4))).toBe(REFUSED);
    expect(await attempt('owner', `update journal.shards set shard = 2 where shard = 0`)).toBe(REFUSED);
  });

  it("cannot put the fence ahead of its shard's epoch", async () => {
    expect(await attempt('owner', `${shardTo(6)}; ${fenceTo(6)}`)).toBe('done');
    expect(await attempt('owner', fenceTo(5))).toBe('done');
    expect(await attempt('owner', fenceTo(6))).toBe(REFUSED);
    expect(await attempt('owner', fenceTo(4))).toBe(REFUSED);
    expect(await attempt('owner', `insert into risk.shard_fence values (1, 6)`)).toBe(REFUSED);
    expect(await attempt('owner', `insert into risk.shard_fence values (1, 5)`)).toBe('done');
  });

  it('can raise the fence to the epoch of a topic, but not further than take-overs can have come', async () => {
    expect(await attempt('owner', `${inKafka}; ${fenceTo(900)}`)).toBe('done');
    expect(await attempt('owner', `${inKafka}; ${fenceTo(LAST_INTEGER)}`)).toBe(REFUSED);
    expect(await attempt('owner', `${inKafka}; ${fenceTo(BEYOND_NUMBERS)}`)).toBe(REFUSED);
  });
});

it('the table role may repair an epoch and a fence', async () => {
  const client = await logins.database.pool.connect();
  try {
    await client.query(`begin; ${fenceTo(1)}; ${shardTo(3)}`);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

const NUMBERS = `('bigint'::regtype, 'timestamptz'::regtype)`;

/** The columns of these types that have no constraint of that name. */
async function withoutBound(types: string, suffix: string): Promise<string[]> {
  const { rows } = await logins.database.pool.query<{ place: string }>(
    `select a.attrelid::regclass || '.' || a.attname as place
     from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname not in ('pg_catalog', 'information_schema', 'meta') and n.nspname !~ '^pg_' and c.relkind = 'r'
       and a.attnum > 0 and not a.attisdropped and a.atttypid ${types}
       and not exists (select from pg_constraint k where k.conrelid = c.oid and k.conname = a.attname || '${suffix}')`,
  );
  return rows.map(({ place }) => place);
}

describe('rows that all processes read', () => {
  it.each<[DatabaseRole, string, string]>([
    [
      'operations',
      'a quantity',
      `insert into control.accounts_policy (account_id, may_quote, may_create, venues, max_quantity_atoms)
      values (gen_random_uuid(), true, true, '{}', ${BEYOND_NUMBERS})`,
    ],
    ['owner', 'a freeze without end', `insert into control.protection_state values ('a', now(), 'infinity')`],
    [
      'owner',
      'a freeze without beginning',
      `insert into control.protection_state values ('a', '-infinity', now())`,
    ],
    [
      'gateway',
      'a key without an end',
      `insert into identity.signing_keys values ('k', '\\x00', now(), 'infinity')`,
    ],
    [
      'settler',
      'evidence of too much',
      `insert into risk.evidence values ('a', 'v', 'COLLATERAL', '', ${BEYOND_NUMBERS}, 0, 1, now(), now())`,
    ],
    [
      'owner',
      'a year of five digits',
      `insert into control.protection_state values ('a', '10000-01-01', now())`,
    ],
  ])('cannot be made unreadable by %s: %s', async (role, _what, statement) => {
    expect(await attempt(role, statement)).toBe(OUT_OF_BOUNDS);
  });

  it('have limits in every column, including new ones', async () => {
    expect(
      await withoutBound(`in ${NUMBERS} and c.oid <> 'journal.records'::regclass`, '_can_be_read'),
    ).toEqual([]);
  });
});

/** A few megabytes on disk, but too much for any process to read. */
const ENDLESS = `repeat('x', 300000000)`;

describe('values that are too long for their readers', () => {
  it.each<[DatabaseRole, string, string]>([
    [
      'gateway',
      'the name of a group',
      `insert into control.groups values (gen_random_uuid(), 'x', ${ENDLESS})`,
    ],
    [
      'gateway',
      'the reason of a halt',
      `insert into control.halts (halt_id, scope, target, what, reason, created_by, created_at)
       values (gen_random_uuid(), 'VENUE', 'v', '{QUOTE}', ${ENDLESS}, 'x', now())`,
    ],
    [
      'operations',
      'a list of venues',
      `insert into control.accounts_policy (account_id, may_quote, may_create, venues, max_quantity_atoms)
       values (gen_random_uuid(), true, true, array_fill('venue'::text, array[100000]), 1)`,
    ],
    [
      'owner',
      'a snapshot',
      `insert into journal.snapshots (family, shard, sequence, hash, format_version, body)
       values ('auction', 0, 9, decode(repeat('00', 32), 'hex'), 1, convert_to(${ENDLESS}, 'UTF8'))`,
    ],
    [
      'owner',
      'a record',
      `insert into journal.records (family, shard, sequence, epoch, kind, payload, hash)
       values ('auction', 0, 1, 5, 'event', repeat('x', 1048577), decode(repeat('00', 32), 'hex'))`,
    ],
    [
      'projector',
      'a position',
      `insert into auction_history.projection_offsets (shard, epoch, sequence, hash) values (0, 1, ${BEYOND_NUMBERS}, decode(repeat('00', 32), 'hex'))`,
    ],
    [
      'projector',
      'an auction',
      `insert into completed.auctions (auction_id, opened_at, sequence, events, shard, status, state)
       values (gen_random_uuid(), 1, 1, 1, 0, 'OPEN', ${ENDLESS})`,
    ],
  ])('cannot be written by %s: %s', async (role, _what, statement) => {
    expect(await attempt(role, statement)).toBe(OUT_OF_BOUNDS);
  });

  it('are limited in every column, including new ones', async () => {
    const short = `('integer'::regtype, 'smallint'::regtype, 'boolean'::regtype, 'uuid'::regtype)`;
    expect(await withoutBound(`not in ${NUMBERS} and a.atttypid not in ${short}`, '_has_room')).toEqual([]);
  });
});

it('values from before the limits are found as the runbook says', async () => {
  const runbook = readFileSync('docs/operate/database.md', 'utf8');
  const [, query = ''] = /#+ Values that cannot be read[^]*?```sql\n([^]*?)```/.exec(runbook) ?? [];
  const client = await logins.database.pool.connect();
  const notices: string[] = [];
  client.on('notice', ({ message = '' }) => notices.push(message));
  try {
    await client.query(query);
    expect(notices).toEqual([]);
    await client.query(`begin; alter table control.groups drop constraint name_has_room;
      insert into control.groups values (gen_random_uuid(), 'x', repeat('x', 10000));
      alter table control.groups add constraint name_has_room check (octet_length(name) <= 8192) not valid`);
    await client.query(query);
    expect(notices).toEqual([expect.stringContaining('control.groups: check constraint "name_has_room"')]);
  } finally {
    await client.query('rollback');
    client.release(true);
  }
});

describe('the id of a participant', () => {
  it('is a UUID: with another id among the invited makers no projection could continue', async () => {
    const withId = (name: string): string =>
      `insert into control.principals values (${name}, 'n', true, true);
       insert into control.accounts_policy values (${name}, false, true, true, '{venue_a}', 1, null)`;
    expect(await attempt('operations', withId('gen_random_uuid()'))).toBe('done');
    for (const name of [
      `'not a uuid'`,
      `''`,
      `upper(gen_random_uuid()::text)`,
      `gen_random_uuid() || chr(10)`,
    ]) {
      expect([name, await attempt('operations', withId(name))]).toEqual([name, REFUSED]);
      expect([name, await attempt('operations', withId(name).split(';')[1]!)]).toEqual([name, REFUSED]);
    }
    const renamed = `${withId(`'00000000-0000-4000-8000-000000000001'`)}; update control.principals set account_id = 'x'`;
    expect(await attempt('operations', renamed)).toBe(REFUSED);
  });
});

describe('existing journals', () => {
  it('cannot be declared to be elsewhere with the login of owners', async () => {
    expect(await attempt('owner', inKafka)).toBe('done');
    const record = `insert into journal.records (family, shard, sequence, epoch, kind, payload, hash)
      values ('auction', 0, 1, 1, 'epoch', '{}', decode(repeat('00', 32), 'hex'))`;
    expect(await attempt('owner', `${record}; ${inKafka}`)).toBe(REFUSED);
  });
});
