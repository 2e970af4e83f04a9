import type { DomainEvent, ShardEventBody } from '../../rules/events.js';
import type { OwnerRequest } from '../../protocol/protocol.js';
import {
  awaited,
  claimed,
  type Connection,
  ended,
  forfeitAt,
  isForgotten,
  LEASE_MILLIS,
  silenced,
  watchOf,
} from './connection.js';
import { GatewayLeases } from './gateway-leases.js';

export type PresenceRequest = Extract<OwnerRequest, { op: 'presence' }>;
type ConnectionNote = Extract<ShardEventBody, { type: 'CONNECTION_NOTED' }>;

interface Row {
  connection: Connection;
  /** Auctions in which it has an active quote: one account has at most one in each. */
  readonly quotes: Set<string>;
  /** The watch that the journal will tell a fresh process of. */
  noted: number | undefined;
  /** Its quotes have been pulled; those that are still there cannot be. */
  isPulled: boolean;
  /** It is forgotten as soon as the journal no longer speaks of it. */
  isFading: boolean;
}

/** Twice the connections that a gateway takes. */
const MAX_HELD = 20_000;

/**
 * The stream connections that an owner watches over, and what has to be done about them. Everything is told to it, the time
 * included: the same causes give the same effects. Notes are what a fresh process could not know otherwise.
 */
export class ConnectionBook {
  private readonly rows = new Map<string, Row>();
  private readonly leases = new GatewayLeases();
  /** Those that nobody holds. */
  private readonly adrift = new Set<string>();
  private readonly owing = new Set<string>();
  /**
   * Before that nothing is forfeit: gateways need a lease's time to find this process, and one may tell of a loss while another, where the
   * connection has gone on, has not found it yet.
   */
  private foundBy = -Infinity;

  get size(): number {
    return this.rows.size;
  }

  /** Whether the journal does not yet say all that it must. */
  get owesNotes(): boolean {
    return this.owing.size > 0;
  }

  presence({ gateway, whole, here, gone }: PresenceRequest, now: number): 'HEARD' | 'UNKNOWN' | 'TOO_MANY' {
    if (!whole && !this.leases.isKnown(gateway)) return 'UNKNOWN';
    const held = whole ? 0 : this.leases.heldBy(gateway).size;
    if (held + here.length > MAX_HELD || gone.length > MAX_HELD) return 'TOO_MANY';
    this.leases.renew(gateway, now);
    for (const claim of here) {
      const row = this.rows.get(claim.connection_id);
      this.move(claim.connection_id, claimed(row?.connection, claim, gateway));
    }
    for (const end of gone) {
      const row = this.rows.get(end.connection_id);
      if (row !== undefined) this.move(end.connection_id, ended(row.connection, end, gateway, now));
    }
    if (whole) this.keepOnly(gateway, new Set(here.map((claim) => claim.connection_id)), now);
    return 'HEARD';
  }

  /** Whether a fresh process would have to know what becomes of it. */
  isOnRecord(connectionId: string): boolean {
    const row = this.rows.get(connectionId);
    return row !== undefined && (row.quotes.size > 0 || row.noted !== undefined);
  }

  /** A quote of the connection stands. False where nobody holds the connection, so that its time may be up. */
  entered(connectionId: string, account: string, auctionId: string, now: number): boolean {
    const row = this.rows.get(connectionId) ?? this.enter(connectionId, awaited(account, undefined, now));
    if (row.connection.account !== account) return true;
    row.quotes.add(auctionId);
    row.isPulled = false;
    row.isFading = false;
    this.look(connectionId, row);
    return row.connection.standing.is === 'HELD';
  }

  left(connectionId: string, auctionId: string): void {
    this.rows.get(connectionId)?.quotes.delete(auctionId);
  }

  /** What a fresh process finds: the clock of everybody's grace begins with it. */
  recovered(noted: ReadonlyMap<string, NotedConnection>, now: number): void {
    this.foundBy = now + LEASE_MILLIS;
    for (const [id, { account, graceMillis }] of noted) {
      this.enter(id, awaited(account, graceMillis, now)).noted = graceMillis;
    }
  }

  /** What must stand in the journal before a quote of the connection does; told once. */
  noteBeforeQuote(connectionId: string, account: string): ConnectionNote | undefined {
    const row = this.rows.get(connectionId);
    if (row?.connection.account !== account) return undefined;
    return this.written(connectionId, row, watchOf(row.connection));
  }

  /** Up to `limit` notes that are owed; whoever takes them journals them. */
  takeNotes(limit: number): ConnectionNote[] {
    const notes: ConnectionNote[] = [];
    for (const id of this.owing) {
      if (notes.length >= limit) break;
      this.owing.delete(id);
      const row = this.rows.get(id);
      const note = row === undefined ? undefined : this.written(id, row, wanted(row));
      if (note !== undefined) notes.push(note);
    }
    return notes;
  }

  /** What time alone brings about. */
  tick(now: number): void {
    for (const id of this.leases.takeExpired(now)) this.silence(id, now);
    for (const id of this.adrift) {
      const row = this.rows.get(id);
      if (row === undefined || row.quotes.size > 0 || !isForgotten(row.connection, now)) continue;
      if (row.noted === undefined) this.forget(id);
      else {
        row.isFading = true;
        this.look(id, row);
      }
    }
  }

  /** Connections whose time is up, with the auctions of their quotes. */
  forfeits(now: number): (readonly [string, readonly string[]])[] {
    return [...this.adrift].flatMap((id) => {
      const row = this.rows.get(id);
      return row !== undefined && !row.isPulled && row.quotes.size > 0 && this.isForfeit(id, now)
        ? [[id, [...row.quotes]] as const]
        : [];
    });
  }

  /** Whether its quotes are to go. A claim that has come meanwhile has saved them. */
  isForfeit(connectionId: string, now: number): boolean {
    const row = this.rows.get(connectionId);
    const at = row === undefined ? undefined : this.forfeitAt(row);
    return at !== undefined && at <= now;
  }

  pulled(connectionId: string): void {
    const row = this.rows.get(connectionId);
    if (row !== undefined) row.isPulled = true;
  }

  /** When the next connection's time is up. */
  nextForfeit(): number | undefined {
    let next: number | undefined;
    for (const id of this.adrift) {
      const row = this.rows.get(id);
      if (row === undefined || row.isPulled || row.quotes.size === 0) continue;
      const at = this.forfeitAt(row);
      if (at !== undefined && (next === undefined || at < next)) next = at;
    }
    return next;
  }

  private forfeitAt({ connection }: Row): number | undefined {
    const at = forfeitAt(connection);
    return at === undefined ? undefined : Math.max(at, this.foundBy);
  }

  private keepOnly(gateway: string, named: ReadonlySet<string>, now: number): void {
    for (const id of [...this.leases.heldBy(gateway)]) if (!named.has(id)) this.silence(id, now);
  }

  private silence(id: string, now: number): void {
    const row = this.rows.get(id);
    if (row !== undefined) this.move(id, silenced(row.connection, now));
  }

  private move(id: string, next: Connection): void {
    const row = this.rows.get(id) ?? this.enter(id, next);
    const { standing: before } = row.connection;
    if (before.is === 'HELD') this.leases.letGo(before.gateway, id);
    row.connection = next;
    if (next.standing.is === 'HELD') {
      this.leases.hold(next.standing.gateway, id);
      this.adrift.delete(id);
      row.isPulled = false;
      row.isFading = false;
    } else {
      this.adrift.add(id);
    }
    this.look(id, row);
  }

  private enter(id: string, connection: Connection): Row {
    const row: Row = { connection, quotes: new Set(), noted: undefined, isPulled: false, isFading: false };
    this.rows.set(id, row);
    if (connection.standing.is !== 'HELD') this.adrift.add(id);
    return row;
  }

  private forget(id: string): void {
    this.rows.delete(id);
    this.adrift.delete(id);
    this.owing.delete(id);
  }

  private look(id: string, row: Row): void {
    if (wanted(row) === row.noted) this.owing.delete(id);
    else this.owing.add(id);
  }

  private written(id: string, row: Row, watch: number | undefined): ConnectionNote | undefined {
    if (row.noted === watch) return undefined;
    row.noted = watch;
    this.owing.delete(id);
    const name = { connection_id: id, account_id: row.connection.account };
    return { type: 'CONNECTION_NOTED', data: watch === undefined ? name : { ...name, grace_ms: watch } };
  }
}

/** Of a connection without quotes the journal need say nothing new, until it has said `bye` or is forgotten. */
function wanted({ connection, quotes, noted, isFading }: Row): number | undefined {
  if (quotes.size > 0 || connection.standing.is === 'LEFT') return watchOf(connection);
  return isFading ? undefined : noted;
}

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
