import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { KEPT } from './postgres.js';
import { SHOWN_SESSION } from './rightful-holders.js';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';

export type Tell = (line: string) => void;
type Asked = Pick<ClientBase, 'query'>;

export const MIGRATION_NAMES = { schema: 'sotto-migrate', roles: 'sotto-roles' } as const;

export interface Patience {
  /** Of who waits for somebody who is no migration. */
  readonly boundMs: number;
  readonly tellAfterMs: number;
  /** For a lock of the server's own; nothing of the product holds so long what a migration needs. */
  readonly lockMs: number;
}

export const USUAL_PATIENCE: Patience = { boundMs: 60_000, tellAfterMs: 2_000, lockMs: 10_000 };

/** What a session of a migration begins with. */
export function migrationOptions({ lockMs }: Patience = USUAL_PATIENCE): string {
  return `${KEPT} -c lock_timeout=${lockMs}`;
}
const ASK_EVERY_MS = 100;
const ATTEMPTS = 3;
const BETWEEN_ATTEMPTS_MS = 500;
const LOOK_EVERY_MS = 1_000;
const LOCK_TIMEOUT = '55P03';
const DEADLOCK = '40P01';
/** PostgreSQL says so of rows of its own tables, without a code of its own. */
const CHANGED_MEANWHILE = /^tuple concurrently (?:updated|deleted)$/;

/** A name anybody may give himself, so it counts with the role of who owns the tables alone. */
const HOLDERS = `
  select ${SHOWN_SESSION} as who,
    a.application_name = any ($2) and (a.usename = current_user or exists (
      select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'meta' and c.relname = 'migration' and c.relowner = a.usesysid)) as is_migration
  from pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and (l.classid::bigint << 32) + l.objid::bigint = $1`;

const BLOCKERS = `
  select distinct ${SHOWN_SESSION} as who
  from pg_stat_activity me, unnest(pg_blocking_pids(me.pid)) blocking (pid) join pg_stat_activity a using (pid)
  where me.application_name = any ($1) and me.usename = current_user and me.datname = current_database()`;

/**
 * Takes the lock by which migrations take turns, to the end of the session. For another migration it waits as long as that takes; whoever
 * else holds it, for anybody may, is told, and after a while named as what is in the way.
 */
export async function awaitTurn(
  client: Asked,
  lock: number,
  tell: Tell,
  { boundMs, tellAfterMs }: Patience = USUAL_PATIENCE,
): Promise<void> {
  const began = performance.now();
  let strangersSince: number | undefined;
  let isTold = false;
  for (;;) {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [lock]);
    if (rows[0]?.mine === true) return;
    const now = performance.now();
    const holders = await holdersOf(client, lock);
    const strangers = holders.filter(({ is_migration: isMigration }) => !isMigration);
    // Between one that has just gone and the next, nobody is seen for a moment.
    if (holders.length > 0) strangersSince = strangers.length === 0 ? undefined : (strangersSince ?? now);
    if (strangersSince !== undefined && strangers.length > 0 && now - strangersSince >= boundMs) {
      throw inTheWay(`the lock of migrations is held by ${listed(strangers)}`);
    }
    if (!isTold && holders.length > 0 && now - began >= tellAfterMs) {
      tell(`waiting for the lock of migrations, held by ${listed(holders)}`);
      isTold = true;
    }
    await pause(ASK_EVERY_MS);
  }
}

interface Holder {
  readonly who: string;
  readonly is_migration: boolean;
}

async function holdersOf(client: Asked, lock: number): Promise<readonly Holder[]> {
  return (await client.query<Holder>(HOLDERS, [lock, Object.values(MIGRATION_NAMES)])).rows;
}

/**
 * What others were in the way of is tried again a few times, for they may be gone by then; `watcher` is a session that does nothing
 * meanwhile. What is tried leaves nothing where it fails.
 */
export async function amidOthers(watcher: Asked, work: () => Promise<void>, tell: Tell): Promise<void> {
  const watch = new BlockerWatch(watcher, tell);
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await work();
        return;
      } catch (error) {
        const reason = reasonOf(error);
        if (reason === undefined) throw error;
        if (attempt === ATTEMPTS) throw inTheWay(`${reason}: ${watch.told}`);
        await pause(BETWEEN_ATTEMPTS_MS);
      }
    }
  } finally {
    await watch.stop();
  }
}

function reasonOf(error: unknown): string | undefined {
  if (!isCodedError(error)) return undefined;
  if (CHANGED_MEANWHILE.test(error.message)) {
    return 'somebody goes on changing what it changes, as a login may the settings of its own role';
  }
  if (error.code === LOCK_TIMEOUT) return 'what it needs is locked';
  return error.code === DEADLOCK ? 'each waits for the other' : undefined;
}

function inTheWay(what: string): StartFault {
  return new StartFault(`the schema cannot be brought up to date, ${what}`, EXIT.unavailable);
}

/** Who holds what the migration waits for can be asked only while it waits. */
class BlockerWatch {
  private readonly stopped = new AbortController();
  private readonly over: Promise<void>;
  private last: readonly { readonly who: string }[] = [];

  constructor(
    private readonly client: Asked,
    private readonly tell: Tell,
  ) {
    this.over = this.look();
  }

  get told(): string {
    return this.last.length === 0
      ? 'see pg_stat_activity for who it is, and end that session'
      : `held by ${listed(this.last)}`;
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.over;
  }

  private async look(): Promise<void> {
    const { signal } = this.stopped;
    let seen = 0;
    for (;;) {
      await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const names = Object.values(MIGRATION_NAMES);
      const found = await this.client.query<{ who: string }>(BLOCKERS, [names]).catch(() => undefined);
      if (found === undefined || found.rows.length === 0) continue;
      this.last = found.rows;
      seen += 1;
      if (seen === 2) this.tell(`waiting for what is held by ${listed(this.last)}`);
    }
  }
}

function listed(people: readonly { readonly who: string }[]): string {
  return people.map(({ who }) => who).join('; ');
}
