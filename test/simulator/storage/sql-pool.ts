import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg';
import type { Host } from '../kernel/host.js';
import type { SimulatedDatabase } from './database.js';
import { DatabaseFault } from './database-fault.js';
import { SqlClient } from './sql-client.js';

/** The part of a client that the product uses. */
interface Client {
  query(asked: string | QueryConfig, values?: unknown[]): Promise<QueryResult>;
  release(broken?: Error | boolean): void;
}

interface Clients {
  query(asked: string | QueryConfig, values?: unknown[]): Promise<QueryResult>;
  connect(): Promise<PoolClient>;
}

/** A process's pool of connections to the simulated server. */
export function poolOf(database: SimulatedDatabase, host: Host): Pool {
  const connect = async (): Promise<Client> => {
    await new Promise<void>((resolve) => {
      database.scheduler.after(database.delay(), host, resolve);
    });
    if (database.isDown) throw new DatabaseFault('ECONNREFUSED', 'connect ECONNREFUSED');
    return new SqlClient(database, host);
  };
  const clients: Clients = {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the driver has no interface but its classes
    connect: async () => (await connect()) as PoolClient,
    query: async (asked, values) => {
      const client = await connect();
      try {
        return await client.query(asked, values);
      } finally {
        client.release(true);
      }
    },
  };
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the driver has no interface but its classes
  return clients as Pool;
}
