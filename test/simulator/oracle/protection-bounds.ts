import { BEGINNING, NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import type { Tables } from '../storage/tables.js';
import { rounded } from './holds.js';
import type { PlacedEvent, RawAward } from './raw-events.js';
import { must } from './violation.js';

const FOUNDED = 'protection trips for a bound that is reached, and for nothing else';
const IN_TIME = 'protection trips with the award that reaches a bound';
const KEPT_AWAY = 'whom its protection keeps away does not quote';
/** Where nothing goes wrong an award is counted by then. */
const COUNTED_MILLIS = 200;
/** Where nothing goes wrong an award is written so soon behind its time: for so long one may be counted before an earlier one. */
const WRITTEN_MILLIS = 200;
/** Where nothing goes wrong each owner has looked at the policy by then. */
const LOOKED_MILLIS = 1_100;
/** `2026-11-20T12:00:00` */
const SECONDS_END = 19;

interface Won {
  /** In nanoseconds from the beginning, as all moments here that the journals and tables say. */
  readonly at: number;
  readonly notional: number;
}

/** Until when a maker has to be kept away at least. */
interface Freeze {
  readonly maker: string;
  readonly until: number;
  /** By when it has to be so, in true milliseconds. */
  readonly dueMillis: number;
}

/** Counts each maker's awards as the journals have them, against the bounds that it has set. */
export class ProtectionBounds {
  private readonly won = new Map<string, Won[]>();
  /** By maker, until when it was kept away when that was looked at last. */
  private readonly known = new Map<string, string>();
  private readonly freezes: Freeze[] = [];
  /** Those that have not come about yet. */
  private awaited: Freeze[] = [];

  constructor(
    private readonly tables: Pick<Tables, 'protection' | 'frozen'>,
    private readonly nowMillis: () => number,
    private readonly isCalm: boolean,
    /** Hears by which of its bounds a maker's protection has tripped. */
    private readonly onTripped: (by: 'AWARDS' | 'NOTIONAL') => void,
  ) {}

  take({ event: { type, at, data } }: PlacedEvent): void {
    for (const award of data.awards ?? []) this.count(award, nanosOf(at));
    if (!this.isCalm) return;
    this.mustHaveTripped();
    if (type === 'QUOTE_SUBMITTED') this.mustBeFree(data.quote?.maker ?? '', nanosOf(at));
  }

  onCommit(): void {
    for (const [maker, until] of this.tables.frozen.rows) {
      if (this.known.get(maker) === until) continue;
      this.known.set(maker, until);
      this.mustBeFounded(maker, until);
    }
    this.mustHaveTripped();
    this.awaited = this.awaited.filter(({ maker, until }) => this.untilOf(maker) < until);
  }

  /** Nobody is to be kept away any more who is not. */
  checkAtRest(): void {
    this.mustHaveTripped();
  }

  private count({ maker, price_atoms: price, quantity_atoms: quantity }: RawAward, at: number): void {
    const won = this.won.get(maker) ?? [];
    this.won.set(maker, won);
    won.push({ at, notional: rounded(price, quantity) });
    const bounds = this.tables.protection.rows.get(maker);
    if (!this.isCalm || bounds === undefined) return;
    const slack = WRITTEN_MILLIS * NANOS_PER_MILLI;
    const from = at - bounds.window_ms * NANOS_PER_MILLI + slack;
    if (this.reached(maker, from, at) === undefined) return;
    const until = at + bounds.frozen_ms * NANOS_PER_MILLI - slack;
    const freeze = { maker, until, dueMillis: this.nowMillis() + COUNTED_MILLIS };
    this.freezes.push(freeze);
    if (this.untilOf(maker) < until) this.awaited.push(freeze);
  }

  private mustHaveTripped(): void {
    const late = this.awaited.find(({ dueMillis }) => dueMillis < this.nowMillis());
    must(
      late === undefined,
      IN_TIME,
      () => `${late?.maker ?? ''} is not kept away, and its awards are too many`,
    );
  }

  /** What is said of it says when it began, and so which award is to have done it. */
  private mustBeFounded(maker: string, until: string): void {
    const bounds = this.tables.protection.rows.get(maker);
    const at = nanosOf(until) - (bounds?.frozen_ms ?? 0) * NANOS_PER_MILLI;
    const last = this.won.get(maker)?.find((award) => award.at === at);
    must(
      bounds !== undefined && last !== undefined,
      FOUNDED,
      () => `${maker} is kept away until ${until}, and has won nothing that would be for`,
    );
    // Where much goes wrong an award may be counted when later ones are long since.
    const to = this.isCalm ? at + WRITTEN_MILLIS * NANOS_PER_MILLI : Infinity;
    const by = this.reached(maker, at - bounds.window_ms * NANOS_PER_MILLI, to);
    must(
      by !== undefined,
      FOUNDED,
      () => `${maker} is kept away until ${until}, and no bound of its is reached`,
    );
    this.onTripped(by);
  }

  /** By which bound, if any, by all that it has won behind the one moment and up to the other. */
  private reached(maker: string, behind: number, upTo: number): 'AWARDS' | 'NOTIONAL' | undefined {
    const bounds = this.tables.protection.rows.get(maker);
    if (bounds === undefined) return undefined;
    const within = (this.won.get(maker) ?? []).filter(({ at }) => at > behind && at <= upTo);
    if (within.length >= bounds.max_awards) return 'AWARDS';
    const sum = within.reduce((total, { notional }) => total + notional, 0);
    return sum >= bounds.max_award_notional_atoms ? 'NOTIONAL' : undefined;
  }

  private mustBeFree(maker: string, at: number): void {
    const freeze = this.freezes.find((one) => {
      const from = (one.dueMillis + LOOKED_MILLIS) * NANOS_PER_MILLI;
      return one.maker === maker && at > from && at < one.until;
    });
    must(freeze === undefined, KEPT_AWAY, () => `${maker} quotes, and its protection has tripped`);
  }

  private untilOf(maker: string): number {
    const until = this.tables.frozen.rows.get(maker);
    return until === undefined ? -Infinity : nanosOf(until);
  }
}

function nanosOf(at: string): number {
  const seconds = BigInt(Date.parse(`${at.slice(0, SECONDS_END)}Z`)) * BigInt(NANOS_PER_MILLI);
  return Number(seconds + BigInt(at.slice(SECONDS_END + 1, -1)) - BEGINNING);
}
