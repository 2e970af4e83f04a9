import type { Tables } from '../storage/tables.js';
import type { AuctionFile } from './auction-file.js';
import { enter, opened } from './filing.js';
import { JournalCopy } from './journal-copy.js';
import { MoneyBook } from './money-book.js';
import type { PlacedEvent, RawAward, RawEvent } from './raw-events.js';
import { tell } from './stories.js';
import { must } from './violation.js';

const ONCE = 'every command once';
const EXECUTION = 'execution follows the ledger';

/** Everything that is known of the world by looking at its disks, and checked while it grows. */
export class Oracle {
  readonly copies: readonly JournalCopy[] = [0, 1, 2].map((shard) => new JournalCopy(shard));
  readonly files = new Map<string, AuctionFile>();
  /** The event that a command has led to, by the command's name. */
  readonly commands = new Map<string, PlacedEvent>();
  readonly money: MoneyBook;
  readonly reached = new Map<string, number>();
  private readonly awards = new Map<string, { readonly file: AuctionFile; readonly award: RawAward }>();

  constructor(private readonly tables: Tables) {
    this.money = new MoneyBook(tables, (awardId) => this.awards.get(awardId));
  }

  onMessage(shard: number, offset: number, value: Buffer): void {
    const placed = this.copies[shard]?.take(offset, value);
    if (placed !== undefined) this.onEvent(placed);
  }

  onCommit(): void {
    this.money.onCommit();
  }

  storyOf(auctionId: string, account: string): readonly { readonly kind: string; readonly at: string }[] {
    return this.files.get(auctionId)?.stories.get(account) ?? [];
  }

  private onEvent(placed: PlacedEvent): void {
    const { event } = placed;
    this.count(`event ${event.type}`);
    this.countDetails(event);
    this.noteCommand(placed);
    if (event.auction_id === undefined) return;
    const file = this.fileFor(placed, event.auction_id);
    for (const award of event.data.awards ?? []) this.awards.set(award.award_id, { file, award });
    this.checkExecution(placed);
    tell(file, event);
    this.money.recount(file);
  }

  private count(what: string): void {
    this.reached.set(what, (this.reached.get(what) ?? 0) + 1);
  }

  private countDetails({ type, data }: RawEvent): void {
    if (type === 'QUOTE_WITHDRAWN') this.count(`withdrawn by ${data.by ?? ''}`);
    if (type === 'AUCTION_OPENED') this.count(`allocation ${data.terms?.allocation ?? ''}`);
    if (type === 'QUOTE_REVISED')
      this.count(data.keeps_priority === true ? 'priority kept' : 'priority lost');
    if (type === 'AUCTION_NOT_AWARDED') this.count(`nobody won ${data.reason ?? ''}`);
    if ((data.awards?.length ?? 0) > 1) this.count('several winners');
  }

  private fileFor(placed: PlacedEvent, id: string): AuctionFile {
    const known = this.files.get(id);
    if (placed.event.type !== 'AUCTION_OPENED') {
      must(
        known !== undefined,
        'the rules of an auction',
        () => `${placed.event.type} of ${id}, which was never opened`,
      );
      enter(known, placed);
      return known;
    }
    must(known === undefined, 'the rules of an auction', () => `${id} is opened twice`);
    const file = opened(placed);
    this.files.set(id, file);
    return file;
  }

  private noteCommand(placed: PlacedEvent): void {
    const { shard, event } = placed;
    if (event.command === undefined) return;
    const { operation, account_id: account, key } = event.command;
    const name = commandName(
      operation,
      account,
      operation === 'WITHDRAW_ALL' ? String(shard) : (event.auction_id ?? ''),
      key,
    );
    const known = this.commands.get(name);
    must(
      known === undefined,
      ONCE,
      () => `${name} stands at ${known?.sequence ?? 0} and again at ${placed.sequence}`,
    );
    this.commands.set(name, placed);
  }

  private checkExecution({ event: { type, data } }: PlacedEvent): void {
    if (type !== 'EXECUTION_CONFIRMED' && type !== 'EXECUTION_FAILED') return;
    const id = data.award_id ?? '';
    const outcome = this.tables.settlements.rows.get(id)?.outcome;
    const expected = type === 'EXECUTION_CONFIRMED' ? 'SETTLED' : 'FAILED';
    must(
      outcome === expected,
      EXECUTION,
      () => `${type} of ${id}, which the ledger has ${outcome ?? 'not ended'}`,
    );
  }
}

/** A create names no auction: its auction follows from it. */
export function commandName(operation: string, account: string, where: string, key: string): string {
  return [operation, account, operation === 'CREATE' ? '' : where, key].join('/');
}
