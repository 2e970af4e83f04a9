import type { DomainEvent } from '../../rules/events.js';

/** What the journal says of a connection whose quotes are watched. */
export interface NotedConnection {
  readonly account: string;
  readonly graceMillis: number;
}

/** The watched connections as the journal has them: what a fresh process knows of those that it has not met. */
export class NotedConnections {
  private readonly byId = new Map<string, NotedConnection>();

  note(event: DomainEvent): void {
    if (event.type !== 'CONNECTION_NOTED') return;
    const { connection_id: id, account_id: account, grace_ms: graceMillis } = event.data;
    if (graceMillis === undefined) this.byId.delete(id);
    else this.byId.set(id, { account, graceMillis });
  }

  restore(noted: Iterable<readonly [string, NotedConnection]>): void {
    for (const [id, connection] of noted) this.byId.set(id, connection);
  }

  /** What a snapshot must hold. */
  all(): ReadonlyMap<string, NotedConnection> {
    return this.byId;
  }
}
