import { type Instant, instantFromNanos } from '#libs/base/instant.js';
import type { Hold } from '../../rules/terms.js';
import type { Cancel } from '#libs/platform/time/clock.js';
import type {
  DeskTotals,
  Release,
  ReservationDesk,
  ReserveOutcome,
  ReserveRequest,
} from '../reservation-desk.js';
import { EvidenceInvalid } from './evidence.js';
import { judgeFreeze } from '../freezes.js';
import { decideHold } from './capacity.js';
import { type ClaimLine, ReservationBatch } from './claim.js';
import type { ReservedLine } from './desk-session.js';
import { DeskWriter, type DeskWriterSettings } from './desk-writer.js';
import { HoldBook, HoldDraft } from './hold-book.js';
import { AccountKeyCache } from './key-ring.js';
import { type AccountKey, byName, resourcesOf } from './resource-key.js';
import type { ReservedState } from './reserved-rows.js';
import { TokenSights } from './token-sights.js';
import { UnwrittenKeys } from './unwritten-keys.js';

/** Long enough to collect the releases of one batch, too short for a caller to notice. */
const RELEASE_LINGER_MS = 3;
const BACK_OFF_MS = 50;
const MAX_BACK_OFF_MS = 2_000;
const MAX_REQUESTS = 256;
const RECONCILE_CHUNK = 500;

interface Ask {
  readonly requests: readonly ReserveRequest[];
  readonly resolve: (outcomes: readonly ReserveOutcome[]) => void;
  readonly reject: (fault: unknown) => void;
}

interface Decided {
  readonly outcomes: readonly ReserveOutcome[];
  readonly draft: HoldDraft;
}

/**
 * Keeps the shard's holds in memory and writes them as absolute numbers, so the next write repairs one whose answer
 * was lost. One transaction runs at a time; requests that come meanwhile share the next.
 */
export class PostgresReservationDesk implements ReservationDesk {
  private readonly writer: DeskWriter;
  private readonly ring = new AccountKeyCache();
  private book = new HoldBook(this.ring);
  private readonly unwritten: UnwrittenKeys;
  private readonly sights = new TokenSights();
  private asks: Ask[] = [];
  private running: Promise<void> | undefined;
  private timer: Cancel | undefined;
  private failures = 0;
  private readonly counts = { reserved: 0, refused: 0, faults: 0 };

  private constructor(private readonly settings: DeskWriterSettings) {
    this.writer = new DeskWriter(settings);
    this.unwritten = new UnwrittenKeys(settings.clock);
  }

  /** Raises the fence: after that no older owner of the shard can reserve or release. */
  static async open(settings: DeskWriterSettings): Promise<PostgresReservationDesk> {
    const desk = new PostgresReservationDesk(settings);
    try {
      await desk.writer.raiseFence();
      return desk;
    } catch (error) {
      await desk.writer.close();
      throw error;
    }
  }

  reserve(requests: readonly ReserveRequest[]): Promise<readonly ReserveOutcome[]> {
    if (requests.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      this.asks.push({ requests, resolve, reject });
      this.run();
    });
  }

  release(changes: readonly Release[]): Promise<void> {
    const keys = changes.flatMap(({ account, hold }) => this.book.remove(account, hold));
    if (keys.length === 0) return Promise.resolve();
    const written = this.unwritten.add(keys);
    if (this.writer.over) this.unwritten.giveUp();
    else this.runSoon(RELEASE_LINGER_MS);
    return written;
  }

  async reconcile(holds: ReadonlyMap<string, readonly Hold[]>): Promise<void> {
    const book = new HoldBook(this.ring);
    for (const [account, hold] of holds) book.add(account, hold);
    const all = distinct([...(await this.writer.keysHeld()), ...book.keys()]);
    this.book = book;
    for (let from = 0; from < all.length; from += RECONCILE_CHUNK) {
      await this.write(all.slice(from, from + RECONCILE_CHUNK));
    }
  }

  totals(): DeskTotals {
    const { commits, aborts } = this.writer;
    const { size: unwritten, oldestSeconds: unwrittenSeconds } = this.unwritten;
    return { keys: this.book.size, unwritten, unwrittenSeconds, commits, aborts, ...this.counts };
  }

  /** Tries once to write what is unwritten. The next owner's recovery repairs the rest. */
  async close(): Promise<void> {
    this.run();
    await this.running;
    await this.writer.close();
    this.unwritten.giveUp();
  }

  private runSoon(millis: number): void {
    if (this.running !== undefined || this.timer !== undefined) return;
    this.timer = this.settings.clock.after(millis, () => {
      this.run();
    });
  }

  private run(): void {
    this.timer?.();
    this.timer = undefined;
    this.running ??= this.drain().finally(() => {
      this.running = undefined;
      if (this.asks.length > 0) this.run();
      else if (this.unwritten.size > 0 && !this.writer.over) this.runSoon(this.backOff());
    });
  }

  private backOff(): number {
    return this.failures === 0
      ? RELEASE_LINGER_MS
      : Math.min(BACK_OFF_MS * 2 ** this.failures, MAX_BACK_OFF_MS);
  }

  private async drain(): Promise<void> {
    do {
      const asks = this.takeAsks();
      const taken = this.unwritten.take();
      try {
        const outcomes = await this.flush(
          asks.flatMap((ask) => ask.requests),
          taken.keys,
        );
        taken.written();
        this.failures = 0;
        answer(asks, outcomes);
      } catch (fault) {
        taken.putBack();
        this.failures += 1;
        this.counts.faults += asks.length;
        for (const ask of asks) ask.reject(fault);
        if (this.writer.over) this.unwritten.giveUp();
      }
    } while (this.asks.length > 0);
  }

  private takeAsks(): Ask[] {
    let requests = 0;
    let count = 0;
    for (const ask of this.asks) {
      requests += ask.requests.length;
      if (count > 0 && requests > MAX_REQUESTS) break;
      count += 1;
    }
    return this.asks.splice(0, count);
  }

  private async flush(
    requests: readonly ReserveRequest[],
    released: readonly AccountKey[],
  ): Promise<readonly ReserveOutcome[]> {
    const { holds, draft, left } = await this.claim(requests, released);
    const others = requests.filter((_, index) => holds[index] === undefined);
    try {
      const decided = await this.readAndDecide(others, left);
      let next = 0;
      return holds.flatMap((hold) => (hold === undefined ? (decided[next++] ?? []) : [{ ok: true, hold }]));
    } catch (error) {
      // The callers get an error, so they would never release what was granted.
      void this.unwritten.add(this.book.takeBack(draft));
      throw error;
    }
  }

  /** Grants what memory can plan and the table confirms. `left` are keys whose rows may differ from memory. */
  private async claim(requests: readonly ReserveRequest[], released: readonly AccountKey[]) {
    const { book, sights, ring } = this;
    const claim = new ReservationBatch(requests, released, { book, sights, ring });
    const { lines, quoting } = claim;
    const at = instantFromNanos(this.settings.clock.epochNanos());
    const accounts = new Set(lines.map(({ key }) => key.account));
    const found = lines.length === 0 ? [] : await this.writer.claim(accounts, { lines, at, quoting });
    const { holds, draft } = claim.granted(found ?? []);
    this.book.accept(draft);
    const granted = holds.reduce((sum, hold) => (hold === undefined ? sum : sum + 1), 0);
    this.counts.reserved += granted;
    const isWhole = found?.length === lines.length && granted === requests.length;
    return { holds, draft, left: isWhole ? [] : lines.filter(isWritten).map(({ key }) => key) };
  }

  /** Reads what the decision needs and decides. Refusals have a reason. */
  private async readAndDecide(
    requests: readonly ReserveRequest[],
    released: readonly AccountKey[],
  ): Promise<readonly ReserveOutcome[]> {
    const keys = this.keysOf(requests);
    let decided: Decided = { outcomes: [], draft: this.draftOn([]) };
    if (keys.length === 0 && released.length === 0) return decided.outcomes;
    try {
      await this.writer.transact({
        accounts: new Set([...requests, ...released].map(({ account }) => account)),
        keys,
        quoting: requests.flatMap(({ account, forQuote }) => (forQuote === true ? [account] : [])),
        prepare: () => {
          // Must come before the snapshot: a later release may belong to a settlement that the snapshot's evidence
          // lacks.
          const draft = this.draftOn([...keys, ...released]);
          return (standing) => {
            standing.noteTokens(keys, this.settings.shard, this.sights);
            decided = this.decide(requests, standing, draft);
            return linesOf(decided.draft, released);
          };
        },
      });
    } catch (error) {
      // The rows may exceed memory now, so write them again.
      void this.unwritten.add([...decided.draft.keys(), ...released]);
      throw error;
    }
    this.book.accept(decided.draft);
    for (const outcome of decided.outcomes) this.counts[outcome.ok ? 'reserved' : 'refused'] += 1;
    return decided.outcomes;
  }

  /** In the order of the requests: each counts the earlier ones. */
  private decide(requests: readonly ReserveRequest[], standing: ReservedState, draft: HoldDraft): Decided {
    const now = instantFromNanos(this.settings.clock.epochNanos());
    const outcomes = requests.map((request) => this.decideOne(request, standing, draft, now));
    return { outcomes, draft };
  }

  private decideOne(
    request: ReserveRequest,
    standing: ReservedState,
    draft: HoldDraft,
    now: Instant,
  ): ReserveOutcome {
    const { account, need, current, forQuote } = request;
    const frozen = forQuote === true ? judgeFreeze(standing.freezes, account, now) : undefined;
    if (frozen !== undefined) return frozen;
    const evidenceOf = standing.evidenceFor(account, (key, byShard) => {
      const others = byShard.reduce(
        (sum, amount, shard) => (shard === this.settings.shard ? sum : sum + amount),
        0,
      );
      return others + draft.total(key);
    });
    try {
      const outcome = decideHold(need, { evidenceOf, current, now });
      if (outcome.ok) draft.raise(account, current, outcome.hold);
      return outcome;
    } catch (error) {
      if (error instanceof EvidenceInvalid) return error;
      throw error;
    }
  }

  private async write(keys: readonly AccountKey[]): Promise<void> {
    await this.writer.transact({
      accounts: new Set(keys.map((key) => key.account)),
      keys,
      quoting: [],
      prepare: () => {
        const lines = linesOf(this.draftOn(keys), keys);
        return () => lines;
      },
    });
  }

  /** An empty draft on top of the present holds of these keys. */
  private draftOn(keys: readonly AccountKey[]): HoldDraft {
    return new HoldDraft(this.book.amountsOf(keys), this.ring);
  }

  private keysOf(requests: readonly ReserveRequest[]): AccountKey[] {
    return distinct(
      requests.flatMap(({ account, need }) =>
        resourcesOf(need).map((resource) => this.ring.of(account, resource)),
      ),
    );
  }
}

/** Sorted, so that transactions of all shards lock rows in the same order. */
function linesOf(draft: HoldDraft, released: readonly AccountKey[]): ReservedLine[] {
  return distinct([...released, ...draft.keys()])
    .sort(byName)
    .map((key) => ({ key, amount: draft.total(key) }));
}

function distinct(keys: readonly AccountKey[]): AccountKey[] {
  return [...new Map(keys.map((key) => [key.name, key])).values()];
}

function isWritten({ kind }: ClaimLine): boolean {
  return kind === 'GROWS' || kind === 'SHRINKS';
}

function answer(asks: readonly Ask[], outcomes: readonly ReserveOutcome[]): void {
  let from = 0;
  for (const { requests, resolve } of asks) {
    resolve(outcomes.slice(from, from + requests.length));
    from += requests.length;
  }
}
