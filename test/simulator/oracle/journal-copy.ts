import { createHash } from 'node:crypto';
import type { PlacedEvent, RawEvent } from './raw-events.js';
import { must } from './violation.js';

const LINE = /^1 (\d+) (\d+) (epoch|event) (\d+|-) (\d+|-) ([0-9a-f]{64})$/;
const NONE = createHash('sha256').update('sotto journal auction').digest('hex');
const CHECK = 'one journal';

/**
 * One shard's journal, read from its topic by the rules of docs/decisions/08, without any of the production
 * code that reads it.
 */
export class JournalCopy {
  head = 0;
  epoch = 0;
  readonly hashes: string[] = [];
  /** The number of ignored messages, by reason. */
  readonly ignored = new Map<string, number>();

  constructor(private readonly shard: number) {}

  /** Returns the event that the message adds to the journal, if any. */
  take(offset: number, value: Buffer): PlacedEvent | undefined {
    const text = value.toString('utf8');
    const end = text.indexOf('\n');
    const fields = LINE.exec(text.slice(0, end));
    must(fields !== null, CHECK, () => `offset ${offset} of shard ${this.shard} holds no record`);
    const [, epochText, sequenceText, kind = '', , , hash = ''] = fields;
    const [epoch, sequence, payload] = [Number(epochText), Number(sequenceText), text.slice(end + 1)];
    const fits = this.digest(epoch, sequence, kind, payload) === hash;
    const follows = sequence === this.head + 1 && fits;
    const why = this.whyIgnored(kind, epoch, sequence);
    if (why !== undefined) {
      const isKnown = fits && this.hashes[sequence - 1] === hash;
      must(
        why !== 'repeated event' || isKnown,
        CHECK,
        () => `offset ${offset} of shard ${this.shard}: another record ${sequence} of epoch ${epoch}`,
      );
      this.ignored.set(why, (this.ignored.get(why) ?? 0) + 1);
      return undefined;
    }
    must(
      follows,
      CHECK,
      () =>
        `offset ${offset} of shard ${this.shard}: ${kind} ${epoch}/${sequence} cannot follow ${this.epoch}/${this.head}`,
    );
    must(
      kind === 'epoch' ? epoch > this.epoch : epoch === this.epoch,
      CHECK,
      () => `offset ${offset} of shard ${this.shard}: an ${kind} of epoch ${epoch} in epoch ${this.epoch}`,
    );
    this.head = sequence;
    this.epoch = epoch;
    this.hashes.push(hash);
    if (kind === 'epoch') return undefined;
    return { shard: this.shard, sequence, event: JSON.parse(payload) as RawEvent };
  }

  private digest(epoch: number, sequence: number, kind: string, payload: string): string {
    const hash = createHash('sha256');
    const before = this.hashes[sequence - 2] ?? NONE;
    for (const field of [String(this.shard), String(epoch), String(sequence), kind, before, payload]) {
      hash.update(`${Buffer.byteLength(field)}:${field},`);
    }
    return hash.digest('hex');
  }

  /** Why a message is ignored: a deposed writer's, a late take-over, or a repeat. */
  private whyIgnored(kind: string, epoch: number, sequence: number): string | undefined {
    if (kind === 'epoch') return epoch < this.epoch || sequence <= this.head ? 'late take-over' : undefined;
    if (epoch < this.epoch) return 'event of a deposed writer';
    return epoch === this.epoch && sequence <= this.head ? 'repeated event' : undefined;
  }
}
