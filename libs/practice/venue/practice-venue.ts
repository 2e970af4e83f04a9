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
  /** The state restored from the log. */
  readonly state: VenueState;
  readonly log: Pick<VenueLog, 'append' | 'durable'>;
  readonly now: () => Millis;
  readonly newId: () => string;
  /** The log could not be written. Memory is ahead of it, so the venue must not answer any more. */
  readonly onLost: (error: unknown) => void;
}

/** Logs each command before anyone learns its result. */
export class PracticeVenue implements PracticeVenuePort {
  readonly exchange_id: PracticeVenueId;
  readonly reads: VenueReads;
  private readonly listeners = new Set<(event: VenueEvent) => void>();
  /** Each market's present bot quote, if it is not logged yet. */
  private readonly quoted = new Map<string, LoggedCommand>();
  /** Nothing expires or closes before this time. */
  private dueAt = 0;

  constructor(private readonly parts: VenueParts) {
    this.exchange_id = parts.exchange_id;
    this.reads = parts.state;
  }

  ask(command: VenueCommand): Promise<VenueReply> {
    this.doWhatIsDue();
    const marketId = this.marketOf(command);
    if (marketId !== undefined) this.logQuote(marketId);
    return this.execute(command);
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
   * Replaces the bots' quotes. Only quotes that trade, are done `once`, or precede a client's command are logged,
   * because each quote replaces the one before.
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
    void this.durable().then(() => this.notify(events), this.parts.onLost);
  }

  /** Expires orders and closes markets whose time has come. */
  doWhatIsDue(): void {
    const now = this.now();
    if (now < this.dueAt) return;
    this.dueAt = Number.POSITIVE_INFINITY;
    for (const { order_id, expires_at: until } of this.parts.state.expiring()) {
      if (until === undefined) continue;
      if (until <= now) void this.execute({ do: 'cancel', order_id, why: 'expired' });
      else this.noteDue(until);
    }
    for (const { terms, status } of this.parts.state.markets()) {
      if (status === 'closed' || status === 'resolved') continue;
      const { market_id, closes_at: until } = terms;
      if (until <= now) void this.execute({ do: 'status', market_id, status: 'closed' });
      else this.noteDue(until);
    }
  }

  private noteDue(at: Millis | undefined): void {
    if (at !== undefined) this.dueAt = Math.min(this.dueAt, at);
  }

  /** Notes when the command's order or market becomes due. */
  private noteDueOf(command: VenueCommand): void {
    if (command.do === 'place') this.noteDue(command.order.expires_at);
    if (command.do === 'list') this.noteDue(command.market.closes_at);
    if (command.do === 'status') this.noteDue(this.reads.market(command.market_id)?.terms.closes_at);
  }

  private async execute(command: VenueCommand): Promise<VenueReply> {
    const logged: LoggedCommand = { at: this.now(), ...command };
    const { reply, events } = this.parts.state.apply(logged);
    if (reply.ok) {
      this.noteDueOf(command);
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
    this.notify(events);
  }

  private notify(events: readonly VenueEvent[]): void {
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
