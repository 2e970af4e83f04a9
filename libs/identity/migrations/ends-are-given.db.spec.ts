import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { migrate } from '#libs/platform/database/migrate.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { IdentityFeed } from '../revocation/identity-feed.js';
import { identityMigrations } from './list.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(
    identityMigrations.filter(({ name }) => name !== 'EndsAreGiven1790000053000'),
  );
});
afterAll(() => database.drop());

it('what a gateway has written with times of its own before counts from the migration on', async () => {
  const [id, account] = [randomUUID(), randomUUID()];
  await database.pool.query(
    `insert into identity.users values ('${account}', 'a@b', 'a@b', 'a', 'x');
     insert into identity.revocations (id, kind, revoked_at, expires_at) values ('${id}', 'SESSION', now(), '2000-01-01');
     insert into identity.sessions values (gen_random_uuid(), '${account}', '2998-01-01', '2999-01-01'),
       (gen_random_uuid(), '${account}', now(), now() + interval '1 hour');
     insert into identity.login_failures values ('a', '2999-01-01'), ('a', now() - interval '1 second')`,
  );
  const feed = new IdentityFeed(database.pool);
  const { revocations } = await feed.versions();
  const now = Math.floor(Date.now() / 1_000);
  expect(await feed.revokedSince(revocations - 1, now, 2)).toEqual([]);
  await migrate(database.url, identityMigrations, { info: () => undefined });
  // Gateways that run on learn of it as well.
  expect(await feed.revokedSince(revocations, now, 2)).toMatchObject([{ id }]);
  const { rows } = await database.pool.query(
    `select count(*)::int as sessions, count(*) filter (where max_until > now() + interval '2 hours')::int as cut,
       bool_and(max_until <= now() + interval '28 hours' and created_at <= now()) as bounded,
       (select count(*) from identity.login_failures)::int as failures from identity.sessions`,
  );
  expect(rows).toEqual([{ sessions: 2, cut: 1, bounded: true, failures: 1 }]);
});
