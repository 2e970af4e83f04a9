import type { Pool, PoolClient } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';

/** An operator's action and its reason. */
export interface OperatorDeed {
  readonly operator: string;
  readonly action: string;
  readonly input: object;
  readonly reason: string;
  readonly request_id: string;
}

const WRITE = `
  insert into execution_control.operator_actions (operator, action, input, reason, request_id)
  values ($1, $2, $3, $4, $5)`;

/** Records the actions of operators. No change is made without its record. */
export class OperatorBook {
  constructor(private readonly pool: Pool) {}

  /** Records an action in the transaction of its change. */
  async write(
    client: PoolClient,
    { operator, action, input, reason, request_id }: OperatorDeed,
  ): Promise<void> {
    await client.query(WRITE, [operator, action, JSON.stringify(input), reason, request_id]);
  }

  /** Records an action and does it in one transaction. */
  act<T>(action: OperatorDeed, work: (client: PoolClient) => Promise<T>): Promise<T> {
    return withTransaction(this.pool, 'read committed', async (client) => {
      await this.write(client, action);
      return work(client);
    });
  }
}
