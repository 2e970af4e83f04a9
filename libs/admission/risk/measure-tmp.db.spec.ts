import { it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { startEmbeddedPostgres } from '#libs/platform/embedded-postgres.js';
import { openPool } from '#libs/platform/postgres.js';
import { migrate } from '#libs/platform/migrate.js';
import { SystemClock } from '#libs/platform/system-clock.js';
import { admissionMigrations } from '../migrations/list.js';
import { custodyMigrations } from '#libs/custody/migrations/list.js';
import { PostgresSettlement } from '#libs/custody/postgres-settlement.js';
import { EvidenceFeed } from '#libs/custody/evidence-feed.js';
import { seedBalances } from '#libs/custody/seed.js';
import { PostgresReservationDesk } from './postgres-desk.js';
import { holdFor } from '#libs/auction/holds.js';
import path from 'node:path';
it('measure', async () => {
  const out: string[] = [];
  const folder = await mkdtemp('/tmp/sotto-measure-');
  const server = await startEmbeddedPostgres({ folder: path.join(folder, 'pg'), logFile: path.join(folder, 'log'), durable: true, removeFolder: true });
  await migrate(server.url, [...admissionMigrations, ...custodyMigrations], { info: () => undefined });
  if (process.env.GUC) {
    const fs = await import('node:fs');
    const adm = openPool(server.url, { applicationName: 'a', max: 1 });
    const pid = (await adm.query('select pg_backend_pid() p')).rows[0].p;
    const dir = fs.readlinkSync(`/proc/${pid}/cwd`);
    fs.appendFileSync(path.join(dir, 'postgresql.auto.conf'), "\nmax_pred_locks_per_relation = 10000\nmax_pred_locks_per_page = 100\n");
    const ppid = Number(/PPid:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
    process.kill(ppid, 'SIGHUP');
    await adm.end();
  }
  const pool = openPool(server.url, { applicationName: 'm', max: 10 });
  const clock = new SystemClock(); await new Promise((r) => setTimeout(r, 500)); out.push(JSON.stringify((await pool.query("select current_setting('max_pred_locks_per_relation') r")).rows));
  const accounts = Array.from({ length: 600 }, (_, i) => `acc-${i}`);
  const venues = ['venue_a', 'venue_b', 'venue_c', 'venue_d', 'venue_e'];
  const t0 = process.hrtime.bigint();
  const bal = accounts.flatMap((account) => venues.flatMap((venue) => [{ account, venue, asset: '', amount: 1e14 }, ...Array.from({ length: 8 }, (_, c) => ({ account, venue, asset: `c${c}/YES`, amount: 1e12 }))]));
  const lim = accounts.flatMap((account) => [{ account, venue: '', resource: 'SERVICE_EXPOSURE_LIMIT' as const, amount: 1e15 }, ...venues.map((venue) => ({ account, venue, resource: 'VENUE_POSITION_LIMIT' as const, amount: 1e15 }))]);
  const now = new Date().toISOString().replace('Z', '000000Z');
  await seedBalances(pool, bal, lim, { now, evidenceTtlMillis: 3_000_000 });
  out.push(`seed ${bal.length} balances ${Number(process.hrtime.bigint() - t0) / 1e6} ms`);
  const t1 = process.hrtime.bigint();
  await seedBalances(pool, bal, lim, { now, evidenceTtlMillis: 3_000_000 });
  out.push(`seed again ${Number(process.hrtime.bigint() - t1) / 1e6} ms`);
  await pool.query('vacuum analyze');
  const feed = new EvidenceFeed(pool, clock, () => undefined, { ttlMillis: 9_000_000, renewEveryMillis: 1000, chunk: 1000 });
  for (let i = 0; i < 2; i++) {
    await pool.query('update risk.evidence set risk_valid_until = now() + interval \'1 hour\'');
    const t2 = process.hrtime.bigint();
    const n = await feed.renewAll();
    out.push(`renew ${n} rows ${Number(process.hrtime.bigint() - t2) / 1e6} ms`);
  }
  const run = async (shards: number[], size: number, rounds: number, label: string) => {
    const desks = await Promise.all(shards.map((shard) => PostgresReservationDesk.open({ url: server.url, shard, epoch: 1, clock, random: Math.random })));
    const cpu0 = process.cpuUsage();
    const started = process.hrtime.bigint();
    let done = 0;
    await Promise.all(desks.map(async (desk, d) => {
      for (let r = 0; r < rounds; r++) {
        const reqs = Array.from({ length: size }, (_, i) => ({ account: accounts[(d * 200 + r * size + i) % 600] ?? '', need: { side: 'BUY' as const, routes: [{ venue: venues[r % 5] ?? '', contract_id: 'c1', outcome: 'YES' }], price_atoms: 500_000, quantity_atoms: 1000, parts: 1 }, current: [] }));
        const o = await desk.reserve(reqs);
        o.forEach((x, i) => { if (x.ok) { done++; void desk.release([{ account: reqs[i]!.account, hold: x.hold }]); } });
      }
    }));
    const s = Number(process.hrtime.bigint() - started) / 1e9;
    const t = desks.map((d) => d.totals());
    const cpu = process.cpuUsage(cpu0);
    out.push(`node ${((cpu.user + cpu.system) / done).toFixed(1)} us cpu a request; ${label} batch ${size}: ${Math.round(done / s)}/s, ${(s * 1000 / rounds).toFixed(2)} ms a batch, commits ${t.map((x) => x.commits)}, aborts ${t.map((x) => x.aborts)}`);
    await Promise.all(desks.map((d) => d.close()));
  };
  for (let pass = 0; pass < 2; pass++) {
    await run([0], 1, 400, 'one shard');
    await run([0], 16, 300, 'one shard');
    await run([0], 64, 150, 'one shard');
    await run([0, 1, 2], 16, 200, 'three shards');
    await run([0, 1, 2], 64, 100, 'three shards');
  }
  const desk = new PostgresSettlement(pool, clock, Math.random);
  const t3 = process.hrtime.bigint();
  const N = 1500;
  let next = 0;
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (next < N) {
      const i = next++;
      const routes = [{ venue: venues[i % 5]!, contract_id: 'c1', outcome: 'YES' }];
      const need = { routes, price_atoms: 500_000, quantity_atoms: 1000, parts: 1 };
      await desk.settle({ award_id: randomUUID(), auction_id: randomUUID(), price_atoms: 500_000, quantity_atoms: 1000, routes, buyer: { account: accounts[(i * 7) % 600]!, hold: holdFor({ ...need, side: 'BUY' }, () => 0) }, seller: { account: accounts[(i * 13 + 1) % 600]!, hold: holdFor({ ...need, side: 'SELL' }, () => 500) } });
    }
  }));
  out.push(`settlements ${Math.round(N / (Number(process.hrtime.bigint() - t3) / 1e9))}/s with 8 lanes`);
  console.log(out.join('\n'));
  await pool.end(); await server.stop(); await rm(folder, { recursive: true, force: true });
}, 120_000);
