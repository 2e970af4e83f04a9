import pg from 'pg';
import { EXIT, isCodedError, StartFault } from '#libs/platform/process/start-fault.js';

const INSUFFICIENT_PRIVILEGE = '42501';

interface Membership {
  readonly name: string;
  readonly other: string;
  readonly grantor: string;
  readonly names_grantor: boolean;
}

/** What one of the roles has passed on itself goes with what it was given. */
const NEXT_MEMBERSHIP = `
  select me.rolname as name, other.rolname as other, giver.rolname as grantor, current_setting('server_version_num')::integer >= 160000 as names_grantor
  from pg_auth_members m join pg_roles other on other.oid = m.roleid join pg_roles me on me.oid = m.member
  left join pg_roles giver on giver.oid = m.grantor where me.rolname = any ($1)
  order by giver.rolname is not null and giver.rolname = any ($1), 1, 2 limit 1`;

/** Since release 16 PostgreSQL keeps apart who has granted a membership, and takes back that of whoever is named, or of who asks. */
export async function takeMemberships(client: pg.Client, roles: readonly string[]): Promise<void> {
  let before = '';
  for (;;) {
    const [found] = (await client.query<Membership>(NEXT_MEMBERSHIP, [roles])).rows;
    if (found === undefined) return;
    // PostgreSQL only warns where it takes back nothing.
    if (before === JSON.stringify(found))
      throw new StartFault(`${found.name} stays a member of ${found.other}`);
    before = JSON.stringify(found);
    const by = found.names_grantor ? `granted by ${pg.escapeIdentifier(found.grantor)}` : '';
    await takeBack(
      client,
      `revoke ${pg.escapeIdentifier(found.other)} from ${pg.escapeIdentifier(found.name)} ${by} cascade`,
    );
  }
}

const KINDS = { r: 'tables', S: 'sequences', f: 'functions', T: 'types', n: 'schemas' } as const;

interface Default {
  readonly maker: string;
  readonly schema: string | null;
  readonly kind: keyof typeof KINDS;
  readonly grantee: string | null;
}

/**
 * What is given with everything that somebody will make: to the roles, whoever makes it, and to everybody, where it is made by who makes our
 * tables. A rebuild of the projections would give it away with the tables that it makes. Types everybody may use, as PostgreSQL has it.
 */
export async function takeDefaults(client: pg.Client, roles: readonly string[]): Promise<void> {
  const { rows } = await client.query<Default>(
    `select distinct maker.rolname as maker, n.nspname as schema, d.defaclobjtype as kind, grantee.rolname as grantee
     from pg_default_acl d join pg_roles maker on maker.oid = d.defaclrole left join pg_namespace n on n.oid = d.defaclnamespace,
       aclexplode(d.defaclacl) a left join pg_roles grantee on grantee.oid = a.grantee
     where grantee.rolname = any ($1) or (a.grantee = 0 and d.defaclobjtype <> 'T' and maker.rolname = current_user)`,
    [roles],
  );
  for (const { maker, schema, kind, grantee } of rows) {
    const where = schema === null ? '' : `in schema ${pg.escapeIdentifier(schema)}`;
    const from = grantee === null ? 'public' : pg.escapeIdentifier(grantee);
    await takeBack(
      client,
      `alter default privileges for role ${pg.escapeIdentifier(maker)} ${where} revoke all on ${KINDS[kind]} from ${from} cascade`,
    );
  }
}

/** A right that somebody else has given, who was given it to pass on, is his to take back: the owner of the table takes back his own alone. */
export async function refuseOthersGrants(
  client: pg.Client,
  roles: readonly string[],
  schemas: readonly string[],
): Promise<void> {
  const { rows } = await client.query<{ what: string }>(
    `select distinct format('%s on %s to %s by %s', a.privilege_type, c.oid::regclass, coalesce(grantee.rolname, 'public'), giver.rolname) as what
     from pg_class c join pg_namespace n on n.oid = c.relnamespace, aclexplode(c.relacl) a
       join pg_roles giver on giver.oid = a.grantor left join pg_roles grantee on grantee.oid = a.grantee
     where n.nspname = any ($2) and a.grantor <> c.relowner and (a.grantee = 0 or grantee.rolname = any ($1)) order by 1 limit 5`,
    [roles, schemas],
  );
  if (rows.length === 0) return;
  throw new StartFault(
    `the database roles cannot be prepared: take back, as who has granted it, ${rows.map(({ what }) => what).join('; ')}`,
    EXIT.unavailable,
  );
}

/** Where the role of the migration may not, whoever may is told what he has to say. */
async function takeBack(client: pg.Client, statement: string): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    if (!isCodedError(error) || error.code !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new StartFault(
      `the database roles cannot be prepared, ${error.message}: as who administers the server, ${statement.replace(/ +/g, ' ')}`,
      EXIT.unavailable,
    );
  }
}
