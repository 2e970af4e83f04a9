import type { JournalEntry } from '#libs/journal/journal.js';
import type { RecordMacs } from '#libs/journal/seals/record-macs.js';

export interface SealsFound {
  /** From which record on the shard is known to be sealed; null where it is not known to be. */
  readonly sealed_from: number | null;
  /** How many there are. */
  readonly found: number;
  /** The last record with a seal that a given key has made, or with any where no key was given; as far as the journal could be read. */
  readonly last_sealed: number | null;
  /** Of those, before the first that a given key has made: made with keys that were taken out since. Null where no key was given. */
  readonly by_former_keys: number | null;
}

export interface SealChecks {
  readonly seals: RecordMacs | undefined;
  readonly sealedFrom: number | undefined;
}

/** One is followed by others; whoever looks begins at the first. */
const KEPT = 20;

/**
 * The seals of one shard, record by record as they come. Where an append ended is known of the last, and of those before a take-over: whoever
 * took over has looked. Older keys need not be given, so a seal that none has made is a fault behind the first that one has, and at the end.
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
      if (entry.seal !== undefined) this.look(entry, entry.seal);
      this.last = entry;
    }
  }

  /** To be called when all there are have been taken. */
  end(): void {
    const { seals, sealedFrom } = this.checks;
    const { last } = this;
    if (last?.kind === 'event') this.mustHave(last);
    // Also where nothing beside the journal is asked: what an owner has begun to seal is not left otherwise.
    if (sealedFrom === undefined && this.hasGood && last !== undefined && last.seal === undefined) {
      this.objectToEnd(last);
    }
    if (sealedFrom !== undefined && (last?.sequence ?? 0) < sealedFrom) {
      this.object(`it ends at ${last?.sequence ?? 0}, but is known to be sealed from ${sealedFrom} on`);
    }
    if (seals !== undefined && !this.hasGood && this.former > 0) {
      this.object(`no key of ID_KEY has made any of its ${this.former} seals`);
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

  private look(entry: JournalEntry, seal: Buffer): void {
    this.found += 1;
    this.sealed = entry.sequence;
    const { seals } = this.checks;
    if (seals === undefined || seals.isGood(entry, seal)) this.lastGood = entry.sequence;
    if (seals === undefined) return;
    if (this.lastGood === entry.sequence) this.hasGood = true;
    else if (this.hasGood) this.object(`the seal of record ${entry.sequence} was made with no key of ID_KEY`);
    else this.former += 1;
  }

  private mustHave(entry: JournalEntry | undefined): void {
    const { sealedFrom } = this.checks;
    if (entry === undefined || entry.seal !== undefined) return;
    if (sealedFrom === undefined || entry.sequence < sealedFrom) return;
    this.objectToEnd(entry);
  }

  private objectToEnd({ sequence }: JournalEntry): void {
    this.object(
      `record ${sequence} ends an append and has no seal: what stands behind record ${this.sealed} was written by no owner`,
    );
  }

  private object(fault: string): void {
    if (this.faults.length < KEPT) this.faults.push(fault);
  }
}
