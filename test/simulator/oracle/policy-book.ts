import type { GroupRow, PrincipalRow, Tables } from '../storage/tables.js';
import { commandName } from './archive.js';
import type { PlacedEvent, RawRoute } from './raw-events.js';

/** As much of an account as decides whether it may be invited. */
export type Guest = Pick<PrincipalRow, 'is_maker' | 'suspended' | 'venues' | 'control_group'>;

/** The policy as it was for a while. */
export interface PolicyPage {
  readonly guests: ReadonlyMap<string, Guest>;
  readonly groups: ReadonlyMap<string, Pick<GroupRow, 'owner' | 'market_maker_ids'>>;
  /** By venue, contract and outcome, whether it trades. */
  readonly markets: ReadonlyMap<string, string>;
  /** By maker, until when its protection keeps it from quoting. */
  readonly frozen: ReadonlyMap<string, string>;
  /** By group, everybody who has ever been in it. */
  readonly everIn: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The policies by which a command may have been judged. */
export interface Policies {
  /** Somebody has just said it, for the first time or again. */
  said(name: string): void;
  /** When it was said first. */
  saidAt(name: string): number;
  pagesFor(name: string): readonly PolicyPage[];
}

/** For so long may an owner judge by what it has read, and a little more as its clock may be slow. */
const HOLDS_MILLIS = 3_005;
/** Where nothing goes wrong it has looked again by then. */
const FRESH_MILLIS = 1_100;

/** What the policy's tables have said, and since when. An owner reads them at most so long before it decides. */
export class PolicyBook implements Policies {
  private readonly pages: (PolicyPage & { readonly since: number })[] = [];
  private version: number | undefined;
  /** By command, the first page that it may be judged by, and the last. */
  private readonly first = new Map<string, number>();
  private readonly last = new Map<string, number>();
  private readonly saidFirst = new Map<string, number>();
  /** By venue, contract and outcome, since when a market has been closed for good. */
  private readonly closed = new Map<string, number>();
  /** By maker, when its protection has begun to keep it away. */
  private readonly freezes = new Map<string, number[]>();

  constructor(
    private readonly tables: Tables,
    private readonly nowMillis: () => number,
    private readonly isCalm = false,
  ) {
    this.turn();
  }

  onCommit(): void {
    const { version } = this.tables.policy.rows.get('') ?? {};
    if (version === this.version) return;
    this.version = version;
    this.turn();
  }

  said(name: string): void {
    if (this.first.has(name)) return;
    this.saidFirst.set(name, this.nowMillis());
    const oldest = this.nowMillis() - (this.isCalm ? FRESH_MILLIS : HOLDS_MILLIS);
    this.first.set(
      name,
      Math.max(
        0,
        this.pages.findLastIndex(({ since }) => since <= oldest),
      ),
    );
  }

  saidAt(name: string): number {
    return this.saidFirst.get(name) ?? Infinity;
  }

  /** Whatever it says of a command was decided by now. */
  wrote({ event: { command, auction_id: id = '' } }: PlacedEvent): void {
    if (command === undefined) return;
    const name = commandName(command.operation, command.account_id, id, command.key);
    if (!this.last.has(name)) this.last.set(name, this.pages.length - 1);
  }

  pagesFor(name: string): readonly PolicyPage[] {
    const last = this.last.get(name) ?? this.pages.length - 1;
    return this.pages.slice(this.first.get(name) ?? 0, last + 1);
  }

  closedSince({ venue, contract_id: contract, outcome }: RawRoute): number | undefined {
    return this.closed.get([venue, contract, outcome].join('/'));
  }

  freezesOf(maker: string): readonly number[] {
    return this.freezes.get(maker) ?? [];
  }

  private note({ markets, frozen }: PolicyPage): void {
    const now = this.nowMillis();
    for (const [market, status] of markets)
      if (status === 'CLOSED' && !this.closed.has(market)) this.closed.set(market, now);
    const before = this.pages.at(-1)?.frozen;
    for (const [maker, until] of frozen)
      if (before?.get(maker) !== until) this.freezes.set(maker, [...this.freezesOf(maker), now]);
  }

  private turn(): void {
    const { principals, groups, contracts, frozen } = this.tables;
    const before = this.pages.at(-1)?.everIn;
    const everIn = new Map(before);
    for (const [id, { market_maker_ids: members }] of groups.rows)
      everIn.set(id, new Set([...(before?.get(id) ?? []), ...members]));
    const markets = new Map(
      [...contracts.rows.values()].map(({ venue, contract_id: contract, outcome, status }) => [
        [venue, contract, outcome].join('/'),
        status,
      ]),
    );
    const copies = {
      guests: new Map(principals.rows),
      groups: new Map(groups.rows),
      markets,
      frozen: new Map(frozen.rows),
      everIn,
    };
    this.note(copies);
    this.pages.push({ ...copies, since: this.nowMillis() });
  }
}
