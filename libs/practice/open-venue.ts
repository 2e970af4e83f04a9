import path from 'node:path';
import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { repeat, type Clock } from '#libs/platform/time/clock.js';
import { Faults } from './faults.js';
import { BotLiquidity } from './liquidity.js';
import { PracticeVenue } from './venue/practice-venue.js';
import type { PracticeVenueId } from './venue/terms.js';
import { VenueState } from './venue/venue-state.js';
import { VenueLog } from './venue-log.js';
import type { VenueKind } from './venues/venue-kinds.js';
import { VenueServer } from './venues/venue-server.js';
import type { VenueShell } from './venues/venue-shell.js';

/** The account from which the service's vault pays, at every venue. */
const VAULT = 'vault';
const DUE_EVERY_MS = 250;

export interface OpenVenueParts {
  readonly exchange_id: PracticeVenueId;
  readonly kind: VenueKind;
  readonly port: number;
  readonly folder: string;
  readonly seed: number;
  readonly isStill: boolean;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Called when the log is lost. The process must stop. */
  readonly onLost: (error: unknown) => void;
  readonly onFault: (error: unknown) => void;
}

export interface OpenVenue {
  readonly venue: PracticeVenue;
  readonly faults: Faults;
  readonly shell: VenueShell;
  readonly book: VenueKind['rules']['book'];
  readonly port: number;
  close(): Promise<void>;
}

/** Restores a venue from its log, seeds it the first time, and opens its port. */
export async function openVenue(parts: OpenVenueParts): Promise<OpenVenue> {
  const { exchange_id, kind, clock, newId, onLost, onFault } = parts;
  const state = new VenueState(kind.rules);
  const file = path.join(parts.folder, `${exchange_id}.log`);
  const log = await VenueLog.open(file, (command) => {
    const { reply } = state.apply(command);
    if (!reply.ok) throw new StartFault(`${file}: a record was refused (${reply.refusal})`, EXIT.damaged);
  });
  const now = (): number => Number(clock.epochNanos() / NANOS_PER_MILLI);
  const venue = new PracticeVenue({ exchange_id, state, log, now, newId, onLost });
  const faults = new Faults(clock);
  const shell = kind.shell({ venue, faults });
  await seed(venue, shell);
  const liquidity = new BotLiquidity({ venue, clock, seed: parts.seed, isStill: parts.isStill });
  const server = await VenueServer.open({ shell, faults, clock, onFault }, parts.port);
  liquidity.start();
  const stopDue = repeat(clock, DUE_EVERY_MS, () => {
    venue.doWhatIsDue();
    return Promise.resolve();
  });
  const close = async (): Promise<void> => {
    stopDue();
    liquidity.stop();
    await server.close();
    await log.close();
  };
  return { venue, faults, shell, book: kind.rules.book, port: server.port, close };
}

async function seed(venue: PracticeVenue, shell: VenueShell): Promise<void> {
  for (const market of shell.seedMarkets(venue.now())) {
    if (venue.reads.market(market.market_id) === undefined) await venue.ask({ do: 'list', market });
  }
  if (!venue.reads.hasAccount(VAULT)) await venue.ask({ do: 'open', account: VAULT, keys: {} });
}
