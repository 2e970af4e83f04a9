import type { JournalEntry } from '#libs/journal/journal.js';
import type { RecordMacs } from '#libs/journal/seals/record-macs.js';

export interface SealsFound {
  /** The record from which on the shard is known to be sealed; null if that is not known. */
  readonly sealed_from: number | null;
  /** Number of seals. */
  readonly found: number;
  /** The last readable record with a seal that a given key has made; or with any seal, if no key was given. */
  readonly last_sealed: number | null;
  /** Number of seals before the first that a given key has made. Their keys were removed since. Null if no key was given. */
  readonly by_former_keys: number | null;
}

export interface SealChecks {
  readonly seals: RecordMacs | undefined;
  readonly sealedFrom: number | undefined;
}

/** One fault leads to others, so the first ones are enough. */
const KEPT = 20;

/**
 * Checks the seals of one shard, record by record. Where an append ended is known only at the end and before an epoch. Former
 * keys may be missing, so a seal of an unknown key is a fault only after one of a given key, or if there is none of a given key.
 */
export class SealCheck {
  readonly faults: string[] = [];
  private found = 0;
  private former = 0;
  private hasGood = false;
  /** The last record that has a seal. */
  private sealed = 0;
  private lastGood = 0;
  private last: JournalEntry | undefined;

  constructor(private readonly checks: SealChecks) {}

  take(entries: readonly JournalEntry[]): void {
    for (const entry of entries) {
      if (entry.kind === 'epoch') {
        if (this.last?.kind === 'event') this.mustHave(this.last);
        this.mustHave(entry);
      }
      if (entry.seal !== undefined) this.checkSeal(entry, entry.seal);
      this.last = entry;
    }
  }

  /** Call after the last record. */
  end(): void {
    const { seals, sealedFrom } = this.checks;
    const { last } = this;
    if (last?.kind === 'event') this.mustHave(last);
    // Checked even without the database: once an owner has sealed a journal, its last append must have a seal.
    if (sealedFrom === undefined && this.hasGood && last !== undefined && last.seal === undefined) {
      this.objectToEnd(last);
    }
    if (sealedFrom !== undefined && (last?.sequence ?? 0) < sealedFrom) {
      this.addFault(`it ends at ${last?.sequence ?? 0}, but is known to be sealed from ${sealedFrom} on`);
    }
    if (seals !== undefined && !this.hasGood && this.former > 0) {
      this.addFault(`no key of ID_KEY has made any of its ${this.former} seals`);
    }
  }

  get told(): SealsFound {
    const { seals, sealedFrom } = this.checks;
    return {
      sealed_from: sealedFrom ?? null,
      found: this.found,
      last_sealed: this.lastGood === 0 ? null : this.lastGood,
      by_former_keys: seals === undefined ? null : this.former,
    };
  }

  private checkSeal(entry: JournalEntry, seal: Buffer): void {
    this.found += 1;
    this.sealed = entry.sequence;
    const { seals } = this.checks;
    if (seals === undefined || seals.isGood(entry, seal)) this.lastGood = entry.sequence;
    if (seals === undefined) return;
    if (this.lastGood === entry.sequence) this.hasGood = true;
    else if (this.hasGood)
      this.addFault(`the seal of record ${entry.sequence} was made with no key of ID_KEY`);
    else this.former += 1;
  }

  private mustHave(entry: JournalEntry | undefined): void {
    const { sealedFrom } = this.checks;
    if (entry === undefined || entry.seal !== undefined) return;
    if (sealedFrom === undefined || entry.sequence < sealedFrom) return;
    this.objectToEnd(entry);
  }

  private objectToEnd({ sequence }: JournalEntry): void {
    this.addFault(
      `record ${sequence} ends an append and has no seal: no owner wrote what follows record ${this.sealed}`,
    );
  }

  private addFault(fault: string): void {
    if (this.faults.length < KEPT) this.faults.push(fault);
  }
}
