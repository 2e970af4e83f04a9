import { getPostgreSQLEventStore } from '@event-driven-io/emmett-postgresql';

/**
 * Appends with another TypeScript event store. Each caller has a stream of its own, so that none conflict.
 */
export class EmmettStreams {
  private constructor(
    private readonly store: ReturnType<typeof getPostgreSQLEventStore>,
    private readonly name: string,
  ) {}

  static async open(url: string): Promise<EmmettStreams> {
    const store = getPostgreSQLEventStore(url);
    await store.schema.migrate();
    return new EmmettStreams(store, `bench-${Date.now()}`);
  }

  /** Appends an event with the same content as ours. */
  async append(caller: number, payload: string): Promise<void> {
    const data = JSON.parse(payload) as Record<string, unknown>;
    await this.store.appendToStream(`${this.name}-${caller}`, [{ type: 'QUOTE_REVISED', data }]);
  }

  async close(): Promise<void> {
    await this.store.close();
  }
}
