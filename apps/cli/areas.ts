import type { Program } from './program.js';

interface Area {
  readonly summary: string;
  /** Only what is called is loaded. */
  readonly load: () => Promise<Program>;
}

/** All that `sotto` can do. */
export const AREAS: Readonly<Record<string, Area>> = {
  ops: {
    summary: 'shards, halts, auctions and limits of a running service, through a gateway',
    load: async () => (await import('./ops.js')).ops,
  },
  execution: {
    summary: 'switches, breakers, API keys, doubts and reserves of order execution',
    load: async () => (await import('./execution.js')).execution,
  },
  accounts: {
    summary: 'who may log in, and what each account may do',
    load: async () => (await import('./accounts.js')).accounts,
  },
  ledger: {
    summary: 'contracts, balances and limits',
    load: async () => (await import('./ledger.js')).ledger,
  },
  journal: {
    summary: 'verify, dump, copy and compare journals; accept a restored database',
    load: async () => (await import('./journal.js')).journal,
  },
  projection: {
    summary: 'how far the projections are, and whether they are as the journals say',
    load: async () => (await import('./projection.js')).projection,
  },
  data: {
    summary: 'make the tables of market data anew from their journals',
    load: async () => (await import('./data.js')).data,
  },
  backup: {
    summary: 'back the database up, check a backup, restore it',
    load: async () => (await import('./backup.js')).backup,
  },
  migrate: {
    summary: 'bring the database up to date and give the processes their rights',
    load: async () => (await import('./migrate.js')).migration,
  },
  kafka: {
    summary: 'run Apache Kafka on this machine',
    load: async () => (await import('./kafka.js')).kafka,
  },
};
