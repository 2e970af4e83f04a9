/** The real launcher with substitutes for the processes and the seed. STAND_INS: `owner-1:deaf,...`. */
import { join } from 'node:path';
import { launch } from '#apps/launcher/launch.js';
import { planProcesses } from '#apps/launcher/processes.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';

const { STAND_INS = '' } = process.env;
const behaviours = new Map(STAND_INS.split(',').map((entry) => entry.split(':')));
const script = join(import.meta.dirname, 'stand-in-process.mjs');
const users = [{ email: 'maker-1@demo.sotto', account_id: 'a', roles: ['MARKET_MAKER'] }];

const parts = {
  appsFolder: import.meta.dirname,
  plan: (facts) =>
    planProcesses(facts).map((plan) => ({
      ...plan,
      script,
      env: { ...plan.env, STAND_IN: behaviours.get(plan.name) ?? 'good' },
    })),
  migrations: [],
  prepareLogins: () => Promise.resolve(undefined),
  seed: () => Promise.resolve({ password: 'demo-password', users, contracts: [] }),
  journalTable: 'journal.record',
  prepareJournals: () => Promise.resolve(false),
};

process.exit(await launch(process.env, parts, new SystemClock()));
