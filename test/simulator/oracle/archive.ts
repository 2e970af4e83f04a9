import { partiesOf, type AuctionFile, type FiledQuote, type StoryLine } from './auction-file.js';
import { enter, opened } from './filing.js';
import type { PlacedEvent } from './raw-events.js';
import { tell } from './stories.js';
import { Picture } from './told/picture.js';
import { must } from './violation.js';
import { partOf, type WithdrawnPart } from './withdraw-all.js';

const ONCE = 'every command once';
const RULES = 'the rules of an auction';
const FORWARD = 'the times of commands go forward';

/** All auctions as the journals' events define them, and the event that each command caused. */
export class OracleArchive {
  readonly files = new Map<string, AuctionFile>();
  /** What may be shown of each auction, by auction id. */
  readonly pictures = new Map<string, Picture>();
  /** Every account that has ever been a party. */
  readonly accounts = new Set<string>();
  /** By command name. */
  readonly commands = new Map<string, PlacedEvent>();
  /** Withdraw-alls in each shard, by command name. */
  readonly withdrawn = new Map<string, WithdrawnPart>();
  /** The time of the latest command of each shard. */
  private readonly latest: string[] = [];
  private readonly open = new Set<AuctionFile>();
  /** The auction of each quote. */
  private readonly quoted = new Map<string, AuctionFile>();

  /** Files the event after checking that it is allowed. Returns its auction, if it has one. */
  take(placed: PlacedEvent): AuctionFile | undefined {
    this.mustGoForward(placed);
    const name = this.noteCommand(placed);
    const { event } = placed;
    if (event.type === 'ALL_WITHDRAWN')
      this.withdrawn.set(
        name,
        partOf(placed, this.open, (id) => this.findQuote(id)),
      );
    if (event.auction_id === undefined) return undefined;
    const file = this.fileFor(placed, event.auction_id);
    file.places.push(placed.sequence);
    this.index(file, event.data.quote?.quote_id);
    const picture = this.pictureOf(file);
    picture.take(placed);
    tell(file, picture, placed);
    return file;
  }

  storyOf(auctionId: string, account: string): readonly StoryLine[] {
    return this.files.get(auctionId)?.stories.get(account) ?? [];
  }

  private pictureOf(file: AuctionFile): Picture {
    const known = this.pictures.get(file.id);
    if (known !== undefined) return known;
    const picture = new Picture(file);
    this.pictures.set(file.id, picture);
    for (const account of partiesOf(file)) this.accounts.add(account);
    return picture;
  }

  findQuote(id: string): { readonly file: AuctionFile; readonly quote: FiledQuote } | undefined {
    const file = this.quoted.get(id);
    const quote = file?.quotes.get(id);
    return file === undefined || quote === undefined ? undefined : { file, quote };
  }

  private index(file: AuctionFile, quoteId: string | undefined): void {
    if (file.stage === 'OPEN') this.open.add(file);
    else this.open.delete(file);
    if (quoteId !== undefined) this.quoted.set(quoteId, file);
  }

  private fileFor(placed: PlacedEvent, id: string): AuctionFile {
    const known = this.files.get(id);
    if (placed.event.type !== 'AUCTION_OPENED') {
      must(known !== undefined, RULES, () => `${placed.event.type} of ${id}, which was never opened`);
      enter(known, placed);
      return known;
    }
    must(known === undefined, RULES, () => `${id} is opened twice`);
    const file = opened(placed);
    this.files.set(id, file);
    return file;
  }

  /** A timed event without a command, such as a close, has its agreed time, however late it is written. */
  private mustGoForward({ shard, sequence, event: { at, type, command } }: PlacedEvent): void {
    if (command === undefined) return;
    const before = this.latest[shard] ?? '';
    must(
      at >= before,
      FORWARD,
      () => `${type} ${sequence} of shard ${shard} is of ${at}, after one of ${before}`,
    );
    this.latest[shard] = at;
  }

  /** Returns the command's name, or an empty text if no command caused the event. */
  private noteCommand(placed: PlacedEvent): string {
    const { shard, event } = placed;
    if (event.command === undefined) return '';
    const { operation, account_id: account, key } = event.command;
    const where = operation === 'WITHDRAW_ALL' ? String(shard) : (event.auction_id ?? '');
    const name = commandName(operation, account, where, key);
    const known = this.commands.get(name);
    must(
      known === undefined,
      ONCE,
      () => `${name} is at ${known?.sequence ?? 0} and again at ${placed.sequence}`,
    );
    this.commands.set(name, placed);
    return name;
  }
}

/** A create names no auction: the auction's id follows from the create. */
export function commandName(operation: string, account: string, where: string, key: string): string {
  return [operation, account, operation === 'CREATE' ? '' : where, key].join('/');
}
