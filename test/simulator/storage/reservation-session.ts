import type { Freezes } from '#libs/auction/admission/freezes.js';
import type { ClaimLine, ClaimOfEpoch } from '#libs/auction/admission/risk/claim.js';
import type { OpenedSession, ReservedLine } from '#libs/auction/admission/risk/desk-session.js';
import { accountKey, type AccountKey } from '#libs/auction/admission/risk/resource-key.js';
import { ReservedState } from '#libs/auction/admission/risk/reserved-rows.js';
import type { Host } from '../kernel/host.js';
import type { SimulatedDatabase } from './database.js';
import { DatabaseFault } from './database-fault.js';
import { SimulatedSession } from './session.js';
import { standingRow } from './standing-row.js';
import { Transaction } from './transaction.js';

const IDLE_MILLIS = 2_000;
const NOTHING: readonly number[] = [0, 0, 0];
/** Amounts that only settlement reduces. */
const OWNED: ReadonlySet<string> = new Set(['COLLATERAL', 'OUTCOME_TOKEN']);

/** The reservation statements as serializable transactions on the simulated server. */
class ReservationSession {
  private readonly session: SimulatedSession;
  private tx = new Transaction();

  constructor(
    private readonly database: SimulatedDatabase,
    host: Host,
    private readonly shard: number,
  ) {
    this.session = new SimulatedSession(database, host);
  }

  get pid(): number {
    return this.session.pid;
  }

  raiseFence(epoch: number): Promise<boolean> {
    return this.work(() => {
      const { tables } = this.database;
      const tx = new Transaction();
      const known = tx.get(tables.fences, String(this.shard)) ?? 0;
      if (known > epoch) return false;
      tx.put(tables.fences, String(this.shard), epoch);
      this.database.commit(tx, true);
      return true;
    });
  }

  begin(_contested: readonly string[], keys: readonly AccountKey[], quoting: readonly string[]) {
    return this.work(() => {
      const { tables } = this.database;
      this.tx = new Transaction();
      this.session.waitAtMost(IDLE_MILLIS);
      const epoch = this.tx.get(tables.fences, String(this.shard));
      const rows = keys.map(({ name }, index) => standingRow(tables, this.tx, name, index));
      return { epoch, standing: new ReservedState(keys, rows, this.freezesOf(this.tx, quoting)) };
    });
  }

  claim(_contested: readonly string[], { epoch, lines, quoting, at }: ClaimOfEpoch): Promise<ClaimLine[]> {
    return this.work(() => {
      const { tables } = this.database;
      const tx = new Transaction();
      if (tx.get(tables.fences, String(this.shard)) !== epoch) return [];
      const isTrue = new Map(lines.map((line) => [line, this.isTrue(tx, line)]));
      const frozen = [...this.freezesOf(tx, quoting)].flatMap(([maker, until]) =>
        until > at ? [maker] : [],
      );
      const untrue = lines.filter((line) => line.kind !== 'SHRINKS' && isTrue.get(line) === false);
      const refused = new Set([...frozen, ...untrue.map(({ key }) => key.account)]);
      const found = lines.filter(
        (line) => isTrue.get(line) === true && (line.kind === 'SHRINKS' || !refused.has(line.key.account)),
      );
      for (const { kind, key, total } of found) {
        if (kind === 'GROWS' || kind === 'SHRINKS') this.put(tx, key, total);
      }
      this.database.commit(tx, true);
      return found;
    });
  }

  keysHeld(): Promise<AccountKey[]> {
    return this.work(() => {
      const held = [...this.tx.all(this.database.tables.reserved)];
      return held.flatMap(([name, amounts]) => (amounts[this.shard] === 0 ? [] : [keyNamed(name)]));
    });
  }

  commit(lines: readonly ReservedLine[]): Promise<void> {
    return this.work(() => {
      for (const { key, amount } of lines) this.put(this.tx, key, amount);
      this.session.waitNoMore();
      this.database.commit(this.tx, true);
    });
  }

  rollback(): Promise<void> {
    return this.work(() => {
      this.session.waitNoMore();
      this.tx = new Transaction();
    });
  }

  outlives(pid: number): Promise<boolean> {
    return this.work(() => {
      this.database.terminate(pid);
      return true;
    });
  }

  destroy(): void {
    this.session.abandon();
  }

  end(): Promise<void> {
    this.session.abandon();
    return Promise.resolve();
  }

  private put(tx: Transaction, key: AccountKey, amount: number): void {
    const { reserved } = this.database.tables;
    const { name } = key;
    const amounts = [...(tx.get(reserved, name) ?? NOTHING)];
    amounts[this.shard] = amount;
    tx.put(reserved, name, amounts);
  }

  private freezesOf(tx: Transaction, quoting: readonly string[]): Freezes {
    const { frozen } = this.database.tables;
    return new Map(
      quoting.flatMap((maker) => {
        const until = tx.get(frozen, maker);
        return until === undefined ? [] : [[maker, until]];
      }),
    );
  }

  /** Evidence never expires here. */
  private isTrue(tx: Transaction, { key, kind, total, sight }: ClaimLine): boolean {
    const { tables } = this.database;
    const { name } = key;
    const evidence = tx.get(tables.evidence, name);
    const reserved = tx.get(tables.reserved, name);
    if (kind === 'SHRINKS') return reserved !== undefined;
    if (kind === 'LACKING') return evidence === undefined;
    const others = (reserved ?? NOTHING).reduce(
      (sum, held, shard) => sum + (shard === this.shard ? 0 : held),
      0,
    );
    if (evidence === undefined) return false;
    if (sight !== undefined && (sight.amount !== evidence.amount || sight.others !== others)) return false;
    if (kind === 'GROWS') return reserved !== undefined && others + total <= evidence.amount;
    return !OWNED.has(key.resource) || others + total <= evidence.amount + evidence.settled;
  }

  private work<T>(act: () => T): Promise<T> {
    return this.session.send<T>((done) => {
      done(act());
    });
  }
}

function keyNamed(name: string): AccountKey {
  const [account = '', venue = '', resource = '', asset = ''] = name.split('\u0000');
  return accountKey(account, { venue, asset, resource: resource as AccountKey['resource'] });
}

export async function openReservations(
  database: SimulatedDatabase,
  host: Host,
  shard: number,
): Promise<OpenedSession> {
  await new Promise<void>((resolve) => {
    database.scheduler.after(database.delay(), host, resolve);
  });
  if (database.isDown) throw new DatabaseFault('ECONNREFUSED', 'connect ECONNREFUSED');
  return new ReservationSession(database, host, shard);
}
