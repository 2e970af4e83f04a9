import { instantFromNanos, type Instant } from '#libs/base/instant.js';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { TradingMode, VenueHealth } from '../protocol/cell-protocol.js';
import type { VenueId } from '../rules/venues.js';
import { VenueUnavailable, type Venue } from '../venues/port.js';
import type { BreakerBoard } from './breaker-board.js';
import type { CellClient } from './cell-client.js';

export interface HealthPorts {
  readonly cells: readonly Pick<CellClient, 'health'>[];
  readonly venues: ReadonlyMap<VenueId, Venue>;
  readonly breakers: Pick<BreakerBoard, 'shown'>;
  readonly clock: Clock;
  readonly onFault: (what: string, error: unknown) => void;
}

interface VenueMode {
  readonly mode: TradingMode;
  readonly since: Instant;
}

const EVERY_MILLIS = 1_000;

/** Reports to every cell the status of the venues and the open breakers: every second, and when a breaker changes. */
export class HealthReporter {
  private readonly seen = new Map<VenueId, VenueMode>();
  private cancel: Cancel = () => undefined;

  constructor(private readonly ports: HealthPorts) {}

  start(): void {
    void this.readAndSend();
    this.cancel = repeat(this.ports.clock, EVERY_MILLIS, () => this.readAndSend());
  }

  stop(): void {
    this.cancel();
  }

  /** Sends the known state without asking the venues again. */
  tell(): void {
    void this.send();
  }

  private async readAndSend(): Promise<void> {
    await Promise.all([...this.ports.venues.values()].map((venue) => this.ask(venue)));
    await this.send();
  }

  /** A venue that does not answer keeps its last mode. Its calls then fail, and the breakers show that. */
  private async ask({ id, markets }: Venue): Promise<void> {
    try {
      const { exchange_active: isActive, trading_active: isTrading } = await markets.status();
      const mode = !isActive ? 'halted' : isTrading ? 'on' : 'cancel_only';
      if (this.seen.get(id)?.mode === mode) return;
      this.seen.set(id, { mode, since: instantFromNanos(this.ports.clock.epochNanos()) });
    } catch (error) {
      if (!(error instanceof VenueUnavailable)) this.ports.onFault('venue status', error);
    }
  }

  private async send(): Promise<void> {
    const health: VenueHealth = {
      breakers: this.ports.breakers.shown(),
      venues: [...this.seen].map(([venue, seen]) => ({ venue, ...seen })),
    };
    const tell = async (cell: Pick<CellClient, 'health'>): Promise<void> => {
      try {
        await cell.health(health);
      } catch (error) {
        this.ports.onFault('venue health', error);
      }
    };
    await Promise.all(this.ports.cells.map(tell));
  }
}
