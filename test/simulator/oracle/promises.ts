import { commandName, type OracleArchive } from './archive.js';
import { mustStand, type Asked, type ToldResult } from './asked.js';
import { mustBeDocumented } from './documented.js';
import type { PlacedEvent } from './raw-events.js';
import { must } from './violation.js';
import { mustWithdrawAll, type WithdrawnAnswer } from './withdraw-all.js';

/** A command as its caller sees it. */
export interface Promised {
  readonly operation: 'CREATE' | 'CANCEL' | 'SUBMIT' | 'REVISE' | 'WITHDRAW' | 'WITHDRAW_ALL';
  readonly account: string;
  readonly auctionId: string;
  readonly key: string;
  /** What it says besides its name: as JSON the fields of its body, and the id of the quote that its path names. */
  readonly content: string;
}

const ACKNOWLEDGED = 'acknowledged means present exactly once';
const REFUSED = 'refused means absent';
const REPEATED = 'a repeat is told the same';
const KNOWN = 'nobody is told that its auction never was';
const CONFLICT = 'only a key that was used for something else is a conflict';
const MADE_ONCE = 'what was made is made once';
const MEANT = 'what is no longer meant is not done';
const SUCCESS: Readonly<Record<Promised['operation'], string>> = {
  CREATE: 'AUCTION_OPENED',
  CANCEL: 'AUCTION_CANCELLED',
  SUBMIT: 'QUOTE_SUBMITTED',
  REVISE: 'QUOTE_REVISED',
  WITHDRAW: 'QUOTE_WITHDRAWN',
  WITHDRAW_ALL: 'ALL_WITHDRAWN',
};

interface First {
  readonly content: string;
  readonly body: string;
  readonly isRefusal: boolean;
}

/** Answers to commands, held against the journals and against each other. Why something is refused is not looked at. */
export class Promises {
  private readonly first = new Map<string, First>();
  readonly codes = new Map<string, number>();
  /** Names of commands of which somebody was told that they have just made something. */
  private readonly made = new Set<string>();
  /** What was said under each name. */
  private readonly contents = new Map<string, Set<string>>();

  constructor(
    private readonly archive: OracleArchive,
    /** Hears of each event that an owner is known to know, because it has acknowledged it. */
    private readonly onAcknowledged: (placed: PlacedEvent) => void = () => undefined,
  ) {}

  /** Somebody says this, and may never hear of it. */
  said({ operation, account, auctionId, key, content }: Promised): void {
    const name = commandName(operation, account, auctionId, key);
    const known = this.contents.get(name);
    if (known === undefined) this.contents.set(name, new Set([content]));
    else known.add(content);
  }

  /** `notAfter` is when its caller no longer meant it. */
  answered(command: Promised, status: number, body: string, notAfter?: string): void {
    const { operation, account, auctionId, key } = command;
    const name = commandName(operation, account, auctionId, key);
    const { error } = JSON.parse(body === '' ? '{}' : body) as { readonly error?: string };
    const code = `${status} ${error ?? operation}`;
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    mustBeDocumented(operation, status, error, () => `${name}: ${status} ${body}`);
    if (error === 'idempotency_key_conflict') this.checkConflict(command, name);
    if (operation === 'WITHDRAW_ALL') {
      if (status === 200) this.checkAllWithdrawn(command, name, body);
      return;
    }
    if (error === 'auction_not_found') this.checkUnknown(command, name);
    const isSuccess = status < 300;
    if (isSuccess) this.checkPresent(command, name, status, body);
    const placed = this.archive.commands.get(name);
    if (isSuccess && placed !== undefined) this.onAcknowledged(placed);
    if (status === 201 && notAfter !== undefined)
      must((placed?.event.at ?? '') <= notAfter, MEANT, () => `${name}: done, and not after ${notAfter}`);
    // One that came too late may have been in time before.
    const isRefusal = status === 422 && error !== 'COMMAND_EXPIRED';
    if (isRefusal) this.checkAbsent(command, name, error ?? '');
    if (isSuccess || isRefusal) this.checkRepeat(name, { content: command.content, body, isRefusal });
  }

  /** At the end: nothing of what was refused has come about after all. */
  checkAll(): void {
    for (const [name, { isRefusal }] of this.first) {
      const type = this.archive.commands.get(name)?.event.type;
      const operation = name.slice(0, name.indexOf('/')) as Promised['operation'];
      const isDone = type === SUCCESS[operation];
      must(isDone !== isRefusal, isRefusal ? REFUSED : ACKNOWLEDGED, () => `${name} is ${type ?? 'nowhere'}`);
    }
  }

  private checkUnknown({ account, auctionId }: Promised, name: string): void {
    must(this.archive.storyOf(auctionId, account).length === 0, KNOWN, () => `${name}: 404`);
  }

  private checkConflict({ content }: Promised, name: string): void {
    const others = [...(this.contents.get(name) ?? [])].filter((other) => other !== content);
    must(others.length > 0, CONFLICT, () => `${name}: nothing else was ever said under this name`);
    const known = this.first.get(name);
    must(known?.content !== content, CONFLICT, () => `${name}: it is what was done`);
  }

  private checkAllWithdrawn({ account, key, content }: Promised, name: string, body: string): void {
    const { archive } = this;
    mustWithdrawAll(
      JSON.parse(content) as Asked,
      JSON.parse(body) as WithdrawnAnswer,
      (shard) => archive.withdrawn.get(commandName('WITHDRAW_ALL', account, String(shard), key)),
      (id) => archive.findQuote(id),
      () => name,
    );
  }

  private checkPresent(command: Promised, name: string, status: number, body: string): void {
    const { operation, account, auctionId, content } = command;
    const placed = this.archive.commands.get(name);
    must(
      placed?.event.type === SUCCESS[operation],
      ACKNOWLEDGED,
      () => `${name}: ${status}, and the journal has ${placed?.event.type ?? 'nothing'}`,
    );
    must(status !== 201 || !this.made.has(name), MADE_ONCE, () => `${name}: 201 once more`);
    if (status === 201) this.made.add(name);
    const { auction_id: id = '' } = placed.event;
    const told = JSON.parse(body) as ToldResult;
    const file = this.archive.files.get(id);
    must(
      file !== undefined && told.auction_id === id && (operation === 'CREATE' || id === auctionId),
      ACKNOWLEDGED,
      () => `${name}: told of ${told.auction_id ?? ''} instead of ${id}`,
    );
    mustStand({ operation, account, asked: JSON.parse(content) as Asked, told }, placed.event, file, name);
  }

  private checkAbsent({ operation }: Promised, name: string, error: string): void {
    const type = this.archive.commands.get(name)?.event.type;
    must(
      type !== SUCCESS[operation],
      REFUSED,
      () => `${name} is refused with ${error}, and the journal has ${type ?? ''}`,
    );
  }

  private checkRepeat(name: string, now: First): void {
    const known = this.first.get(name);
    if (known === undefined) {
      this.first.set(name, now);
      return;
    }
    const differ = (): string => `${name}: first ${known.body}, then ${now.body}`;
    must(known.isRefusal === now.isRefusal, REPEATED, differ);
    // A refusal that was kept is in the journal; others may be given for another reason the next time.
    if (known.isRefusal && !this.archive.commands.has(name)) return;
    if (known.content === now.content) must(known.body === now.body, REPEATED, differ);
    else must(now.isRefusal, REPEATED, () => `${name}: other content was taken`);
  }
}
