import { commandName, type Archive } from './archive.js';
import type { PlacedEvent } from './raw-events.js';
import { must } from './violation.js';

/** A command as its caller sees it. */
export interface Promised {
  readonly operation: 'CREATE' | 'CANCEL' | 'SUBMIT' | 'REVISE' | 'WITHDRAW' | 'WITHDRAW_ALL';
  readonly account: string;
  readonly auctionId: string;
  readonly key: string;
  /** What it says besides its name. */
  readonly content: string;
}

const ACKNOWLEDGED = 'acknowledged means present exactly once';
const REFUSED = 'refused means absent';
const REPEATED = 'a repeat is told the same';
const KNOWN = 'nobody is told that its auction never was';
const DOCUMENTED = 'documented codes only';
const SUCCESS: Readonly<Record<Promised['operation'], string>> = {
  CREATE: 'AUCTION_OPENED',
  CANCEL: 'AUCTION_CANCELLED',
  SUBMIT: 'QUOTE_SUBMITTED',
  REVISE: 'QUOTE_REVISED',
  WITHDRAW: 'QUOTE_WITHDRAWN',
  WITHDRAW_ALL: 'ALL_WITHDRAWN',
};
const STATUSES: ReadonlySet<number> = new Set([200, 201, 400, 403, 404, 409, 422, 429, 503]);

/** Answers to commands, held against the journals and against each other. */
export class Promises {
  private readonly first = new Map<
    string,
    { readonly content: string; readonly body: string; readonly isRefusal: boolean }
  >();
  readonly codes = new Map<string, number>();

  constructor(
    private readonly archive: Archive,
    /** Hears of each event that an owner is known to know, because it has acknowledged it. */
    private readonly onAcknowledged: (placed: PlacedEvent) => void = () => undefined,
  ) {}

  answered(command: Promised, status: number, body: string): void {
    const { operation, account, auctionId, key, content } = command;
    const name = commandName(operation, account, auctionId, key);
    const told = JSON.parse(body === '' ? '{}' : body) as { readonly error?: string };
    const code = `${status} ${told.error ?? operation}`;
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    must(STATUSES.has(status), DOCUMENTED, () => `${name}: ${status} ${body}`);
    if (operation === 'WITHDRAW_ALL') return;
    if (told.error === 'auction_not_found') this.checkUnknown(command, name);
    const isSuccess = status < 300;
    if (isSuccess) this.checkPresent(command, name, status, body);
    const placed = this.archive.commands.get(name);
    if (isSuccess && placed !== undefined) this.onAcknowledged(placed);
    if (status === 422 && told.error !== 'COMMAND_EXPIRED') this.checkAbsent(command, name, told.error ?? '');
    const known = this.first.get(name);
    if (!isSuccess && (status !== 422 || told.error === 'COMMAND_EXPIRED')) return;
    if (known === undefined) this.first.set(name, { content, body, isRefusal: !isSuccess });
    else this.checkRepeat(name, known, { content, body, isRefusal: !isSuccess });
  }

  /** At the end: nothing of what was refused has come about after all. */
  checkAll(): void {
    for (const [name, { isRefusal }] of this.first) {
      const type = this.archive.commands.get(name)?.event.type;
      const operation = name.slice(0, name.indexOf('/')) as Promised['operation'];
      if (isRefusal)
        must(type !== SUCCESS[operation], REFUSED, () => `${name} was refused and has led to ${type ?? ''}`);
      else
        must(
          type === SUCCESS[operation],
          ACKNOWLEDGED,
          () => `${name} was acknowledged and is ${type ?? 'nowhere'}`,
        );
    }
  }

  private checkUnknown({ account, auctionId }: Promised, name: string): void {
    must(this.archive.storyOf(auctionId, account).length === 0, KNOWN, () => `${name}: 404`);
  }

  private checkPresent({ operation }: Promised, name: string, status: number, body: string): void {
    const placed = this.archive.commands.get(name);
    must(
      placed?.event.type === SUCCESS[operation],
      ACKNOWLEDGED,
      () => `${name}: ${status}, and the journal has ${placed?.event.type ?? 'nothing'}`,
    );
    const { data, auction_id: id } = placed.event;
    const view = JSON.parse(body) as {
      readonly auction_id?: string;
      readonly quote_id?: string;
      readonly revision?: number;
      readonly price_atoms?: number;
    };
    must(
      view.auction_id === id,
      ACKNOWLEDGED,
      () => `${name}: told of ${view.auction_id ?? ''} instead of ${id ?? ''}`,
    );
    const { quote } = data;
    if (quote === undefined) return;
    must(
      view.quote_id === quote.quote_id &&
        view.revision === quote.revision &&
        view.price_atoms === quote.price_atoms,
      ACKNOWLEDGED,
      () => `${name}: told ${body}, and the journal has ${JSON.stringify(quote)}`,
    );
  }

  private checkAbsent({ operation }: Promised, name: string, error: string): void {
    const type = this.archive.commands.get(name)?.event.type;
    must(
      type !== SUCCESS[operation],
      REFUSED,
      () => `${name} is refused with ${error}, and the journal has ${type ?? ''}`,
    );
  }

  private checkRepeat(
    name: string,
    known: { readonly content: string; readonly body: string; readonly isRefusal: boolean },
    now: { readonly content: string; readonly body: string; readonly isRefusal: boolean },
  ): void {
    must(known.isRefusal === now.isRefusal, REPEATED, () => `${name}: first ${known.body}, then ${now.body}`);
    // A refusal that was kept is in the journal; others may be given for another reason the next time.
    if (known.isRefusal && !this.archive.commands.has(name)) return;
    if (known.content !== now.content) {
      must(now.isRefusal, REPEATED, () => `${name}: other content was taken`);
      return;
    }
    must(known.body === now.body, REPEATED, () => `${name}: first ${known.body}, then ${now.body}`);
  }
}
