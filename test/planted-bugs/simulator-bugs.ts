import type { PlantedBug } from './planted-bug.js';

type SimulatorBug = Omit<PlantedBug, 'foundBy' | 'options'>;

/** Journals, their owners, and what owners know. */
const JOURNALS: readonly SimulatorBug[] = [
  {
    name: 'owner-answers-before-the-journal',
    mistake: 'Callers are answered when their commands are decided, not when they are durable.',
    file: 'libs/shard/command-loop.ts',
    symbol: 'CommandLoop.commit',
    replace: ['let append: Append | undefined;', 'let append: Append | undefined; this.answer(pending);'],
    promise: /^(acknowledged means present exactly once|withdraw-all takes back all that may be taken back)/,
  },
  {
    name: 'sink-takes-lost-for-written',
    mistake: 'A send whose answer was lost counts as written.',
    file: 'libs/journal/kafka/kafka-sink.ts',
    symbol: 'KafkaSink.deliver',
    replace: [
      'if (error instanceof SendLost) lost ??= error;',
      'if (error instanceof SendLost) return await this.placed(records, this.position.next);',
    ],
    promise: /./,
  },
  {
    name: 'take-over-without-looking',
    mistake: 'A take-over counts as soon as it is in the topic.',
    file: 'libs/journal/kafka/kafka-journal.ts',
    symbol: 'KafkaJournal.attempt',
    replace: [
      'const isOurs = offset !== undefined && position.offset === offset && position.head.hash === record.hash;',
      'const isOurs = offset !== undefined;',
    ],
    promise: /./,
  },
  {
    name: 'desk-not-fenced',
    mistake: 'A deposed owner may still write its reservations.',
    file: 'libs/auction/admission/risk/desk-writer.ts',
    symbol: 'DeskWriter.open',
    replace: ['if (opening.epoch !== this.settings.epoch) throw this.fence();', ''],
    promise: /./,
  },
  {
    name: 'clock-steps-go-unnoticed',
    mistake: 'An owner notices a clock that was set by hand only when it asks the database again.',
    file: 'libs/shard/conditions/clock-watch.ts',
    symbol: 'ClockWatch.isSound',
    replace: ['&& magnitude(this.wallAgainstMonotonic() - this.baseline) <= MAX_STEP_NANOS', ''],
    promise: /./,
  },
  {
    name: 'recovery-believes-a-reader-that-is-behind',
    mistake: 'A recovery ends with the first page that is not full, though its writer knows of more.',
    file: 'libs/shard/recovery.ts',
    symbol: 'recoverMemory',
    replace: [
      'hash = follow(shard, hash, page);',
      'hash = follow(shard, hash, page); if (page.length < PAGE && events > 0) break;',
    ],
    also: [
      {
        file: 'libs/shard/recovery.ts',
        symbol: 'recoverMemory',
        replace: ['if (hash !== head.hash)', "if (hash === '')"],
      },
    ],
    promise: /./,
  },
  {
    name: 'snapshot-without-answers',
    mistake: 'Answers that belong to no auction are not taken out of a snapshot.',
    file: 'libs/auction/shard/recovery/recovery.ts',
    symbol: 'restore',
    replace: ['stored.restore(answers);', 'stored.restore([...answers].slice(0, 0));'],
    promise: /./,
  },
  {
    name: 'owner-forgets-keys',
    mistake: 'Only the first command of an auction is found again by its key.',
    file: 'libs/auction/shard/memory/auction-book.ts',
    symbol: 'AuctionBook.note',
    replace: ['event.command !== undefined', 'event.command !== undefined && entry.durable === undefined'],
    promise: /./,
  },
];

/** Money, winners and makers' protection. */
const TRADE: readonly SimulatorBug[] = [
  {
    name: 'desk-ignores-other-shards',
    mistake: 'What other shards have set aside is not counted.',
    file: 'libs/auction/admission/risk/postgres-desk.ts',
    symbol: 'PostgresReservationDesk.decideOne',
    replace: ['return others + draft.total(key);', 'return others * 0 + draft.total(key);'],
    promise: /./,
  },
  {
    name: 'holds-rounded-down',
    mistake: 'What a payer owes is rounded down.',
    file: 'libs/base/money.ts',
    symbol: 'owed',
    replace: ['+ PER_CONTRACT - 1n', ''],
    promise: /./,
  },
  {
    name: 'create-releases-what-was-refused',
    mistake: 'A create that is refused gives back what was never set aside for it; its owner ends of it.',
    file: 'libs/auction/shard/tasks/create-task.ts',
    symbol: 'CreateTask.unused',
    replace: [
      'granted?.ok === true ? [{ account: this.request.account, hold: granted.hold }]',
      'granted?.ok === false ? [{ account: this.request.account, hold: Object(granted).hold }]',
    ],
    promise: /^no process throws/,
  },
  {
    name: 'later-quote-first',
    mistake: 'Among equal prices the later quote comes first.',
    file: 'libs/auction/rules/winner-rule.ts',
    symbol: 'compare',
    replace: ['return a.priority - b.priority;', 'return b.priority - a.priority;'],
    promise: /^winners/,
  },
  {
    name: 'reserve-of-sales-ignored',
    mistake: 'The reserve of a sale is not looked at.',
    file: 'libs/auction/rules/winner-rule.ts',
    symbol: 'meetsReserve',
    replace: ['quote.price_atoms >= reserve', 'true'],
    promise: /^(winners|streams tell what happened)/,
  },
  {
    name: 'minimum-fill-ignored',
    mistake: 'A single winner need not reach the minimum fill.',
    file: 'libs/auction/rules/winner-rule.ts',
    symbol: 'single',
    replace: [
      'ranked.find((quote) => quote.quantity_atoms >= contest.min_fill_quantity_atoms)',
      'contest && ranked.at(0)',
    ],
    promise: /^winners/,
  },
  {
    name: 'expired-quote-wins',
    mistake: 'A quote that has expired by the close takes part in the decision.',
    file: 'libs/auction/rules/decide/close.ts',
    symbol: 'decideClose',
    replace: ['decideExpiries(state, at)', 'decideExpiries(state, at).slice(1)'],
    promise: /^the rules of an auction/,
  },
  {
    name: 'command-is-done-though-too-late',
    mistake: 'A command is carried out after the moment until which it was meant.',
    file: 'libs/auction/shard/tasks/shard-context.ts',
    symbol: 'isTooLate',
    replace: ['now > notAfter', 'now > notAfter && now < notAfter'],
    promise: /^what is no longer meant is not done/,
  },
  {
    name: 'frozen-makers-stay',
    mistake: 'Quotes that stand are not taken back when the protection of their maker trips.',
    file: 'libs/auction/shard/protection-enforcer.ts',
    symbol: 'ProtectionEnforcer.pull',
    replace: ['quote.updated_at >= until', 'quote.updated_at < until'],
    promise: /./,
  },
  {
    name: 'settler-reports-before-it-settles',
    mistake: 'An award is reported as confirmed before it is settled.',
    file: 'apps/settler/award-carrier.ts',
    symbol: 'AwardCarrier.carry',
    replace: [
      'const result = await this.settle(award, attempt);',
      "await this.report(award, 'CONFIRMED', attempt); const result = await this.settle(award, attempt);",
    ],
    promise: /^execution follows the ledger/,
  },
];

/** Who sees what: streams, and views of finished auctions. */
const TOLD: readonly SimulatorBug[] = [
  {
    name: 'makers-see-rivals',
    mistake: 'A maker is shown the quotes of all makers, not its own alone.',
    file: 'libs/auction/rules/told/award-view.ts',
    symbol: 'ownQuotes',
    replace: [
      '(bookOf(state, maker)?.quotes ?? [])',
      "(maker === '' ? [] : state.books.flatMap((book) => book.quotes))",
    ],
    promise: /^(reads tell what happened|no account is named)/,
  },
  {
    name: 'conflict-tells-of-rivals',
    mistake: 'The refusal of a second quote tells how many makers have quoted.',
    file: 'libs/auction/rules/decide/plan-submit.ts',
    symbol: 'planSubmit',
    replace: [
      "'You have an active quote in this auction; revise it instead.'",
      '`You have an active quote, one of ${state.books.length}; revise it instead.`',
    ],
    promise: /^noninterference/,
  },
  {
    name: 'refusal-with-a-code-of-its-own',
    mistake: 'A refusal has a code that no document knows.',
    file: 'libs/auction/rules/decide/plan-revise.ts',
    symbol: 'planRevise',
    replace: [
      "rejected('QUOTE_NOT_REVISABLE', 'Quotes of this auction are final.')",
      "rejected('QUOTE_IS_FINAL' as never, 'Quotes of this auction are final.')",
    ],
    promise: /^documented codes only/,
  },
  {
    name: 'stream-resumes-after-the-token',
    mistake: 'A resumed connection is told only what happens from now on.',
    file: 'libs/auction/stream/subscriptions/resumption.ts',
    symbol: 'Resumption.constructor',
    replace: ['this.isNeeded(shard) ?', 'this.isNeeded(shard) && shard > 0 ?'],
    promise: /./,
  },
  {
    name: 'owner-heeds-no-lost-streams',
    mistake: 'An owner does not heed which streams a gateway has lost.',
    file: 'libs/auction/shard/connections/connection-book.ts',
    symbol: 'ConnectionBook.presence',
    replace: [
      'if (row !== undefined) this.move(end.connection_id, ended(row.connection, end, gateway, now));',
      'if (row === undefined) continue;',
    ],
    promise: /./,
  },
  {
    name: 'projector-forgets-where-it-was',
    mistake: 'What is remembered of auctions is used at any position.',
    file: 'libs/projecting/projector.ts',
    symbol: 'ShardMemory.recall',
    replace: ['position === this.position', 'position > 0'],
    promise: /./,
  },
];

export const SIMULATOR_BUGS: readonly SimulatorBug[] = [...JOURNALS, ...TRADE, ...TOLD];
