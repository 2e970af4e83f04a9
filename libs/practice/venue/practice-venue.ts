import type { VenueLog } from '../venue-log.js';
import type {
  LoggedCommand,
  Millis,
  PracticeVenueId,
  VenueCommand,
  VenueEvent,
  VenueReply,
} from './terms.js';
import type { PracticeVenuePort, VenueReads } from './venue-reads.js';
import type { VenueState } from './venue-state.js';

export interface VenueParts {
  readonly exchange_id: PracticeVenueId;
  /** As the log left it. */
  readonly state: VenueState;
  readonly log: Pick<VenueLog, 'append' | 'durable'>;
  readonly now: () => Millis;
  readonly newId: () => string;
  /** The log could not be written: what is in memory is ahead of it, and nothing may be answered any more. */
  readonly onLost: (error: unknown) => void;
}

/** Brings what a venue is asked to its log before anyone hears of it. */
export class PracticeVenue implements PracticeVenuePort {
  readonly exchange_id: PracticeVenueId;
  readonly reads: VenueReads;
  private readonly listeners = new Set<(event: VenueEvent) => void>();
  /** By market: what the bots quote now, and the log does not know yet. */
  private readonly quoted = new Map<string, LoggedCommand>();
  /** Nothing is due before. */
  private dueAt = 0;

  constructor(private readonly parts: VenueParts) {
    this.exchange_id = parts.exchange_id;
    this.reads = parts.state;
  }

  ask(command: VenueCommand): Promise<VenueReply> {
    this.doWhatIsDue();
    const marketId = this.marketOf(command);
    if (marketId !== undefined) this.logQuote(marketId);
    return this.obey(command);
  }

  durable(): Promise<void> {
    return this.parts.log.durable();
  }

  follow(listener: (event: VenueEvent) => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  now(): Millis {
    return this.parts.now();
  }

  newId(): string {
    return this.parts.newId();
  }

  /**
   * The bots quote anew. Each quote takes the place of the one before, so only those that trade and the last before a client's command
   * worth a line, and those that are done `once`.
   */
  quote(marketId: string, middle: number, once?: string): void {
    this.doWhatIsDue();
    const named = once === undefined ? {} : { once };
    const command: LoggedCommand = { at: this.now(), do: 'quote', market_id: marketId, middle, ...named };
    const { reply, events } = this.parts.state.apply(command);
    if (!reply.ok) return;
    const hasTraded = events.some(({ what }) => what === 'trade');
    if (hasTraded || once !== undefined) {
      this.quoted.delete(marketId);
      void this.log(command, events);
      return;
    }
    this.quoted.set(marketId, command);
    void this.durable().then(() => this.tell(events), this.parts.onLost);
  }

  /** Orders that have expired and markets that close. */
  doWhatIsDue(): void {
    const now = this.now();
    if (now < this.dueAt) return;
    this.dueAt = Number.POSITIVE_INFINITY;
    for (const { order_id, expires_at: until } of this.parts.state.expiring()) {
      if (until === undefined) continue;
      if (until <= now) void this.obey({ do: 'cancel', order_id, why: 'expired' });
      else this.comesDue(until);
    }
    for (const { terms, status } of this.parts.state.markets()) {
      if (status === 'closed' || status === 'resolved') continue;
      const { market_id, closes_at: until } = terms;
      if (until <= now) void this.obey({ do: 'status', market_id, status: 'closed' });
      else this.comesDue(until);
    }
  }

  private comesDue(at: Millis | undefined): void {
    if (at !== undefined) this.dueAt = Math.min(this.dueAt, at);
  }

  /** What a command that was obeyed makes due later. */
  private awaitDue(command: VenueCommand): void {
    if (command.do === 'place') this.comesDue(command.order.expires_at);
    if (command.do === 'list') this.comesDue(command.market.closes_at);
    if (command.do === 'status') this.comesDue(this.reads.market(command.market_id)?.terms.closes_at);
  }

  private async obey(command: VenueCommand): Promise<VenueReply> {
    const logged: LoggedCommand = { at: this.now(), ...command };
    const { reply, events } = this.parts.state.apply(logged);
    if (reply.ok) {
      this.awaitDue(command);
      await this.log(logged, events);
    } else await this.durable();
    return reply;
  }

  private async log(command: LoggedCommand, events: readonly VenueEvent[]): Promise<void> {
    try {
      await this.parts.log.append(command);
    } catch (error) {
      this.parts.onLost(error);
      throw error;
    }
    this.tell(events);
  }

  private tell(events: readonly VenueEvent[]): void {
    for (const event of events) {
      for (const listener of this.listeners) listener(event);
    }
  }

  private logQuote(marketId: string): void {
    const quote = this.quoted.get(marketId);
    if (quote === undefined) return;
    this.quoted.delete(marketId);
    void this.log(quote, []);
  }

  private marketOf(command: VenueCommand): string | undefined {
    if (command.do === 'place') return command.order.market_id;
    if (command.do === 'status' || command.do === 'resolve') return command.market_id;
    return command.do === 'amend' ? this.reads.order(command.order_id)?.market_id : undefined;
  }
}
