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
  /** The grace that is noted in the journal. A new process starts with it. */
  noted: number | undefined;
  /** Its quotes were withdrawn. Any that are left cannot be withdrawn. */
  isPulled: boolean;
  /** It is forgotten once the journal no longer has a note of it. */
  isFading: boolean;
}

/** Twice the number of connections that a gateway accepts. */
const MAX_HELD = 20_000;

/**
 * The stream connections that an owner watches for cancel on disconnect. All input, time included, comes from the caller, so
 * equal input gives equal results. Notes are journaled facts that a new process could not learn otherwise.
 */
export class ConnectionBook {
  private readonly rows = new Map<string, Row>();
  private readonly leases = new GatewayLeases();
  /** Connections that no gateway holds. */
  private readonly unheld = new Set<string>();
  private readonly owing = new Set<string>();
  /**
   * Nothing is forfeit before this time. Gateways need up to one lease to find this process, and one gateway may report a loss
   * before another one, where the connection was resumed, has found it.
   */
  private foundBy = -Infinity;

  get size(): number {
    return this.rows.size;
  }

  /** Whether notes are still to be journaled. */
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

  /** Whether a new process would have to know what happens to this connection. */
  isOnRecord(connectionId: string): boolean {
    const row = this.rows.get(connectionId);
    return row !== undefined && (row.quotes.size > 0 || row.noted !== undefined);
  }

  /**
   * Records an active quote of the connection. Returns false if no gateway holds the connection, so that its grace may be over.
   */
  entered(connectionId: string, account: string, auctionId: string, now: number): boolean {
    const row = this.rows.get(connectionId) ?? this.enter(connectionId, awaited(account, undefined, now));
    if (row.connection.account !== account) return true;
    row.quotes.add(auctionId);
    row.isPulled = false;
    row.isFading = false;
    this.updateOwing(connectionId, row);
    return row.connection.phase.is === 'HELD';
  }

  left(connectionId: string, auctionId: string): void {
    this.rows.get(connectionId)?.quotes.delete(auctionId);
  }

  /** Loads the noted connections at the start of a process. Every grace begins again at `now`. */
  recovered(noted: ReadonlyMap<string, NotedConnection>, now: number): void {
    this.foundBy = now + LEASE_MILLIS;
    for (const [id, { account, graceMillis }] of noted) {
      this.enter(id, awaited(account, graceMillis, now)).noted = graceMillis;
    }
  }

  /** The note to journal before a quote of this connection, unless the journal already has it. */
  noteBeforeQuote(connectionId: string, account: string): ConnectionNote | undefined {
    const row = this.rows.get(connectionId);
    if (row?.connection.account !== account) return undefined;
    return this.noteIfChanged(connectionId, row, watchOf(row.connection));
  }

  /** Removes and returns up to `limit` owed notes. The caller must journal them. */
  takeNotes(limit: number): ConnectionNote[] {
    const notes: ConnectionNote[] = [];
    for (const id of this.owing) {
      if (notes.length >= limit) break;
      this.owing.delete(id);
      const row = this.rows.get(id);
      const note = row === undefined ? undefined : this.noteIfChanged(id, row, graceToNote(row));
      if (note !== undefined) notes.push(note);
    }
    return notes;
  }

  /** Applies the passing of time: expired leases, and connections to forget. */
  tick(now: number): void {
    for (const id of this.leases.takeExpired(now)) this.silence(id, now);
    for (const id of this.unheld) {
      const row = this.rows.get(id);
      if (row === undefined || row.quotes.size > 0 || !isForgotten(row.connection, now)) continue;
      if (row.noted === undefined) this.forget(id);
      else {
        row.isFading = true;
        this.updateOwing(id, row);
      }
    }
  }

  /** Connections whose grace is over, with the auctions of their quotes. */
  forfeits(now: number): (readonly [string, readonly string[]])[] {
    return [...this.unheld].flatMap((id) => {
      const row = this.rows.get(id);
      return row !== undefined && !row.isPulled && row.quotes.size > 0 && this.isForfeit(id, now)
        ? [[id, [...row.quotes]] as const]
        : [];
    });
  }

  /** Whether its quotes are to be withdrawn. A claim that arrived meanwhile saves them. */
  isForfeit(connectionId: string, now: number): boolean {
    const row = this.rows.get(connectionId);
    const at = row === undefined ? undefined : this.forfeitAt(row);
    return at !== undefined && at <= now;
  }

  pulled(connectionId: string): void {
    const row = this.rows.get(connectionId);
    if (row !== undefined) row.isPulled = true;
  }

  /** When the grace of the next connection is over. */
  nextForfeit(): number | undefined {
    let next: number | undefined;
    for (const id of this.unheld) {
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
    const { phase: before } = row.connection;
    if (before.is === 'HELD') this.leases.letGo(before.gateway, id);
    row.connection = next;
    if (next.phase.is === 'HELD') {
      this.leases.hold(next.phase.gateway, id);
      this.unheld.delete(id);
      row.isPulled = false;
      row.isFading = false;
    } else {
      this.unheld.add(id);
    }
    this.updateOwing(id, row);
  }

  private enter(id: string, connection: Connection): Row {
    const row: Row = { connection, quotes: new Set(), noted: undefined, isPulled: false, isFading: false };
    this.rows.set(id, row);
    if (connection.phase.is !== 'HELD') this.unheld.add(id);
    return row;
  }

  private forget(id: string): void {
    this.rows.delete(id);
    this.unheld.delete(id);
    this.owing.delete(id);
  }

  private updateOwing(id: string, row: Row): void {
    if (graceToNote(row) === row.noted) this.owing.delete(id);
    else this.owing.add(id);
  }

  private noteIfChanged(id: string, row: Row, watch: number | undefined): ConnectionNote | undefined {
    if (row.noted === watch) return undefined;
    row.noted = watch;
    this.owing.delete(id);
    const name = { connection_id: id, account_id: row.connection.account };
    return { type: 'CONNECTION_NOTED', data: watch === undefined ? name : { ...name, grace_ms: watch } };
  }
}

/**
 * The grace that the journal should have. Without quotes it stays as noted until the client sends `bye` or the connection is
 * forgotten.
 */
function graceToNote({ connection, quotes, noted, isFading }: Row): number | undefined {
  if (quotes.size > 0 || connection.phase.is === 'LEFT') return watchOf(connection);
  return isFading ? undefined : noted;
}

/** A connection with watched quotes, as noted in the journal. */
export interface NotedConnection {
  readonly account: string;
  readonly graceMillis: number;
}

/** The watched connections according to the journal. A new process starts from these. */
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

  /** The content for a snapshot. */
  all(): ReadonlyMap<string, NotedConnection> {
    return this.byId;
  }
}
