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
  /** Besides its name: the fields of its body as JSON, and the id of the quote named in its path. */
  readonly content: string;
}

const ACKNOWLEDGED = 'acknowledged means present exactly once';
const REFUSED = 'refused means absent';
const REPEATED = 'a repeat gets the same answer';
const KNOWN = 'no auction is denied that exists';
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

/** Compares answers to commands with the journals and with each other. It does not check why a command is refused. */
export class Promises {
  private readonly first = new Map<string, First>();
  readonly codes = new Map<string, number>();
  /** Names of commands that were answered as having created something. */
  private readonly made = new Set<string>();
  /** The contents sent under each name. */
  private readonly contents = new Map<string, Set<string>>();

  constructor(
    private readonly archive: OracleArchive,
    /** Called for each event that an owner has acknowledged and therefore knows. */
    private readonly onAcknowledged: (placed: PlacedEvent) => void = () => undefined,
  ) {}

  /** A caller sends this, and may never get an answer. */
  said({ operation, account, auctionId, key, content }: Promised): void {
    const name = commandName(operation, account, auctionId, key);
    const known = this.contents.get(name);
    if (known === undefined) this.contents.set(name, new Set([content]));
    else known.add(content);
  }

  /** `notAfter` is the time after which its caller did not want it any more. */
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
    // A command that came too late now may have arrived in time earlier.
    const isRefusal = status === 422 && error !== 'COMMAND_EXPIRED';
    if (isRefusal) this.checkAbsent(command, name, error ?? '');
    if (isSuccess || isRefusal) this.checkRepeat(name, { content: command.content, body, isRefusal });
  }

  /** At the end: nothing that was refused is in the journal after all. */
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
    must(others.length > 0, CONFLICT, () => `${name}: no other content was ever sent under this name`);
    const known = this.first.get(name);
    must(
      known?.content !== content,
      CONFLICT,
      () => `${name}: the content is the same as the executed command's`,
    );
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
    // A recorded refusal is in the journal; other refusals may have another reason next time.
    if (known.isRefusal && !this.archive.commands.has(name)) return;
    if (known.content === now.content) must(known.body === now.body, REPEATED, differ);
    else must(now.isRefusal, REPEATED, () => `${name}: other content was accepted`);
  }
}
