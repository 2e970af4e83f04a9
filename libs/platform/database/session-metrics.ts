import type { Pool } from 'pg';
import { Counter, Gauge, type Registry } from 'prom-client';
import { REFUSALS, sessionsRefused } from './session-client.js';

/** The pools of this process, by name. */
const pools = new Map<string, Pool>();

export function watchPool(name: string, pool: Pool): void {
  pools.set(name, pool);
}

/** Exports metrics of the database sessions that this process has, waits for, and was refused. */
export function measureSessions(registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: 'sotto_database_sessions_refused_total',
    help: 'Database sessions that were refused, by reason: too_many, denied (wrong login or password, or no right to the database), unreachable',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const reason of REFUSALS) this.inc({ reason }, sessionsRefused(reason));
    },
  });
  new Gauge({
    name: 'sotto_database_sessions',
    help: 'Database sessions of this process, by pool and state: busy or idle',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, { totalCount, idleCount }] of pools) {
        this.set({ pool, state: 'busy' }, totalCount - idleCount);
        this.set({ pool, state: 'idle' }, idleCount);
      }
    },
  });
  new Gauge({
    name: 'sotto_database_session_waiters',
    help: 'Queries that wait for a session of their pool, because all are busy',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, { waitingCount }] of pools) this.set({ pool }, waitingCount);
    },
  });
}
