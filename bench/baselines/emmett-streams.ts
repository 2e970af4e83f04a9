import { getPostgreSQLEventStore } from '@event-driven-io/emmett-postgresql';

/** Appends of another event store in this language, each caller to a stream of its own, so that no two get in each other's way. */
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

  /** The event with the same content as ours. */
  async append(caller: number, payload: string): Promise<void> {
    const data = JSON.parse(payload) as Record<string, unknown>;
    await this.store.appendToStream(`${this.name}-${caller}`, [{ type: 'QUOTE_REVISED', data }]);
  }

  async close(): Promise<void> {
    await this.store.close();
  }
}
