import { commandName, type Archive } from './archive.js';
import {
  mustCancel,
  mustOpen,
  mustRevise,
  mustSubmit,
  mustWithdraw,
  type Asked,
  type Told,
} from './asked.js';
import type { PlacedEvent, RawEvent } from './raw-events.js';
import { Invitations } from './invitations.js';
import { mustBeDocumented } from './documented.js';
import { Permissions } from './permissions.js';
import type { Policies } from './policy-book.js';
import type { Meter } from './meter.js';
import { mustBeGrounded, mustNotBeKnown } from './judgements.js';
import { mayBePast, mayRefuse, mustBeMeant, type RefusalGrounds } from './refusals.js';
import type { StandingQuotes } from './standing-quotes.js';
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
const SUCCESS: Readonly<Record<Promised['operation'], string>> = {
  CREATE: 'AUCTION_OPENED',
  CANCEL: 'AUCTION_CANCELLED',
  SUBMIT: 'QUOTE_SUBMITTED',
  REVISE: 'QUOTE_REVISED',
  WITHDRAW: 'QUOTE_WITHDRAWN',
  WITHDRAW_ALL: 'ALL_WITHDRAWN',
};
/** Decided by the state of its auction, and kept nowhere. */
const CONFLICTS: ReadonlySet<string> = new Set(['quote_already_active', 'quote_revision_conflict']);
const JUDGED: ReadonlySet<string> = new Set(['SUBMIT', 'REVISE']);
const QUOTING: ReadonlySet<string> = new Set([...JUDGED, 'WITHDRAW']);

/** Answers to commands, held against the journals and against each other. */
export class Promises {
  private readonly first = new Map<
    string,
    { readonly content: string; readonly body: string; readonly isRefusal: boolean }
  >();
  readonly codes = new Map<string, number>();
  readonly invitations: Invitations;
  private readonly permissions: Permissions;
  /** Names of commands of which somebody was told that they have just made something. */
  private readonly made = new Set<string>();

  /** What was said under each name. */
  private readonly contents = new Map<string, Set<string>>();

  constructor(
    private readonly archive: Archive,
    private readonly policies: Policies,
    private readonly grounds: RefusalGrounds,
    /** Hears of each event that an owner is known to know, because it has acknowledged it. */
    private readonly onAcknowledged: (placed: PlacedEvent) => void = () => undefined,
    /** Where the journals are followed as they grow. */
    private readonly standing?: StandingQuotes,
    /** Where nothing goes wrong. */
    private readonly meter?: Meter,
  ) {
    this.invitations = new Invitations(policies);
    this.permissions = new Permissions(policies, grounds.aheadMillis);
  }

  /** Somebody says this, and may never hear of it. */
  said({ operation, account, auctionId, key, content }: Promised): void {
    const name = commandName(operation, account, auctionId, key);
    const known = this.contents.get(name);
    if (known === undefined) this.contents.set(name, new Set([content]));
    else known.add(content);
    this.policies.said(name);
  }

  /** `notAfter` is when its caller no longer meant it. */
  answered(command: Promised, status: number, body: string, notAfter?: string): void {
    const { operation, account, auctionId, key, content } = command;
    const name = commandName(operation, account, auctionId, key);
    const told = JSON.parse(body === '' ? '{}' : body) as { readonly error?: string };
    const code = `${status} ${told.error ?? operation}`;
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    mustBeDocumented(operation, status, told.error, () => `${name}: ${status} ${body}`);
    if (told.error === 'idempotency_key_conflict') this.checkConflict(command, name);
    if (operation === 'WITHDRAW_ALL') {
      if (status === 200) this.checkAllWithdrawn(command, name, body);
      return;
    }
    if (told.error === 'auction_not_found') this.checkUnknown(command, name);
    if (told.error === 'quote_already_active')
      this.standing?.mustHaveStood(name, auctionId, account, this.policies.saidAt(name));
    if (told.error === 'quote_revision_conflict')
      this.standing?.mustHaveDiffered(name, JSON.parse(content) as Asked, this.policies.saidAt(name));
    if (told.error === 'quote_not_found') this.checkQuoteUnknown(command, name);
    const isSuccess = status < 300;
    if (isSuccess) this.checkPresent(command, name, status, body);
    const placed = this.archive.commands.get(name);
    if (isSuccess && placed !== undefined) this.onAcknowledged(placed);
    if (placed !== undefined || CONFLICTS.has(told.error ?? ''))
      this.meter?.decided(command, name, this.policies.saidAt(name));
    if (notAfter !== undefined)
      mustBeMeant(this.grounds, { name, notAfter, code, at: placed?.event.at ?? '' });
    if (status === 422 && told.error !== 'COMMAND_EXPIRED') {
      this.checkAbsent(command, name, told.error ?? '');
      const asked = JSON.parse(content) as Asked;
      this.invitations.mayRefuse({ name, originator: account, asked }, told.error ?? '');
      this.mayRefuse(command, name, told.error ?? '');
    }
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

  private checkQuoteUnknown({ account, auctionId, content }: Promised, name: string): void {
    const file = this.archive.files.get(auctionId);
    if (file !== undefined) mustNotBeKnown({ name, account, asked: JSON.parse(content) as Asked, file });
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
    const { operation, auctionId } = command;
    const placed = this.archive.commands.get(name);
    must(
      placed?.event.type === SUCCESS[operation],
      ACKNOWLEDGED,
      () => `${name}: ${status}, and the journal has ${placed?.event.type ?? 'nothing'}`,
    );
    must(status !== 201 || !this.made.has(name), MADE_ONCE, () => `${name}: 201 once more`);
    if (status === 201) this.made.add(name);
    const { data, auction_id: id } = placed.event;
    const view = JSON.parse(body) as Told & { readonly auction_id?: string; readonly quote_id?: string };
    must(
      view.auction_id === id && (operation === 'CREATE' || id === auctionId),
      ACKNOWLEDGED,
      () => `${name}: told of ${view.auction_id ?? ''} instead of ${id ?? ''}`,
    );
    const { quote } = data;
    must(
      quote === undefined || (view.quote_id === quote.quote_id && quote.maker === command.account),
      ACKNOWLEDGED,
      () => `${name}: told ${body}, and the journal has ${JSON.stringify(quote)}`,
    );
    this.checkAsked(command, name, placed.event, view);
  }

  private checkAsked(
    { operation, account, content }: Promised,
    name: string,
    event: RawEvent,
    told: Told,
  ): void {
    const asked = JSON.parse(content) as Asked;
    const file = this.archive.files.get(event.auction_id ?? '');
    must(file !== undefined, ACKNOWLEDGED, () => `${name}: there is no such auction`);
    const what = (): string => name;
    if (JUDGED.has(operation))
      this.permissions.mustPermit({ name, maker: account, routes: file.terms.routes });
    if (operation === 'CREATE') {
      must(file.terms.originator.account_id === account, ACKNOWLEDGED, () => `${name}: is somebody else's`);
      mustOpen(asked, event, told, what);
      this.invitations.mustInvite({ name, originator: account, asked }, file.terms, told);
      return;
    }
    if (operation === 'CANCEL') mustCancel(asked, event, told, what);
    else if (operation === 'SUBMIT') mustSubmit(asked, event, told, file, what);
    else {
      const quote = file.quotes.get(asked.quote_id ?? '');
      must(quote?.maker === account, ACKNOWLEDGED, () => `${name}: there is no such quote`);
      if (operation === 'REVISE') mustRevise(asked, event, told, quote.versions, what);
      else mustWithdraw(asked, event, told, quote, what);
    }
  }

  private mayRefuse(command: Promised, name: string, error: string): void {
    const { operation, account, auctionId, content } = command;
    const file = this.archive.files.get(auctionId);
    mayRefuse(this.grounds, { name, account, file }, error);
    if (QUOTING.has(operation) && file !== undefined) {
      const asked = JSON.parse(content) as Asked;
      mustBeGrounded({ name, account, asked, file, mayBePast: mayBePast(this.grounds) }, error);
    }
    if (JUDGED.has(operation) && file !== undefined)
      this.permissions.mayRefuse({ name, maker: account, routes: file.terms.routes }, error);
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
