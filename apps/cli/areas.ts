import type { Program } from './program.js';

interface Area {
  readonly summary: string;
  /** Loads the program of this area only. */
  readonly load: () => Promise<Program>;
}

/** All areas of `sotto`. */
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
    summary: 'accounts: who may log in, and with what rights',
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
    summary: 'show the lag of projections, compare them with the journals, rebuild them',
    load: async () => (await import('./projection.js')).projection,
  },
  data: {
    summary: 'rebuild the tables of market data from their journals',
    load: async () => (await import('./data.js')).data,
  },
  backup: {
    summary: 'back the database up, check a backup, restore it',
    load: async () => (await import('./backup.js')).backup,
  },
  migrate: {
    summary: 'migrate the database and grant the processes their rights',
    load: async () => (await import('./migrate.js')).migration,
  },
  kafka: {
    summary: 'run Apache Kafka on this machine',
    load: async () => (await import('./kafka.js')).kafka,
  },
};
