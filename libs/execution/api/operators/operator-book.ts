import type { Pool, PoolClient } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';

/** What an operator has done, and why. */
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

/** No change of an operator stands without its entry here. */
export class OperatorBook {
  constructor(private readonly pool: Pool) {}

  /** In the transaction of what was done. */
  async write(
    client: PoolClient,
    { operator, action, input, reason, request_id }: OperatorDeed,
  ): Promise<void> {
    await client.query(WRITE, [operator, action, JSON.stringify(input), reason, request_id]);
  }

  /** Neither the work nor the entry stands without the other. */
  act<T>(action: OperatorDeed, work: (client: PoolClient) => Promise<T>): Promise<T> {
    return withTransaction(this.pool, 'read committed', async (client) => {
      await this.write(client, action);
      return work(client);
    });
  }
}
