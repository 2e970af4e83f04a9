import type { PlantedBug } from './planted-bug.js';

type BugOnProcesses = Omit<PlantedBug, 'foundBy'>;

/** Found by the fault campaign: in parts that the simulator does not run, or between processes. */
export const CAMPAIGN_BUGS: readonly BugOnProcesses[] = [
  {
    name: 'the-leader-alone-says-so',
    mistake: 'A record that only the leading broker has counts as written.',
    file: 'libs/journal/kafka/kafkajs/produce-request.ts',
    symbol: 'ALL_IN_SYNC',
    replace: ['-1', '1'],
    promise: /^(acknowledged means present exactly once|what was made is made once|streams are complete)/,
    options: '--seed 5 --store kafka --open-auctions 0 --minutes 2 --only kill:broker-unheard',
  },
  {
    name: 'a-trade-takes-more',
    mistake: 'A trade takes an atom more from its buyer, by a transaction of its own whose sums are right.',
    file: 'libs/ledger/migrations/1790000300000-initial-custody.ts',
    symbol: 'SETTLE',
    replace: [
      `from unnest(accounts, assets, amounts) as line (account, asset, amount);
       update custody.settlements`,
      `from unnest(accounts, assets, amounts) as line (account, asset, amount);
       with made as (
         insert into custody.transactions (kind, recorded_at) values ('SETTLEMENT', clock_timestamp())
         returning transaction_id
       )
       insert into custody.entries (transaction_id, account_id, domain, venue, asset, kind, amount)
       select transaction_id, account, 'vault', place, '', 'available', line.amount
       from made, (
         select account, -1 as amount from unnest(accounts, assets, amounts) as had (account, asset, amount)
         where asset = '' and amount < 0 and account not like 'system:%'
         union all select 'system:escrow', 1
       ) as line
       where exists (select from unnest(assets, amounts) as paid (asset, amount) where asset = '' and amount < 0);
       update custody.settlements`,
    ],
    promise: /^the ledger to the atom/,
  },
  {
    name: 'desk-grants-anything',
    mistake: 'A quote is granted without a look at what its account has over all shards.',
    file: 'libs/auction/admission/risk/claim-statement.ts',
    symbol: 'claimStatement',
    replace: [
      'then r.account_id is not null and ${others} + a.total <= e.amount',
      'then r.account_id is not null',
    ],
    promise: /^nothing is promised twice/,
  },
  {
    name: 'projector-drops-events',
    mistake: 'A projector leaves an event out now and then.',
    file: 'libs/auction/projections/projection.ts',
    symbol: 'AuctionProjectionWriter.apply',
    replace: [
      'await this.events.insert(client, shard, batch.ofAuctions);',
      'await this.events.insert(client, shard, batch.ofAuctions.filter(({ entry }) => entry.sequence % 211 !== 0));',
    ],
    promise: /^at rest everything is read/,
  },
  {
    name: 'strangers-see-what-is-over',
    mistake: 'Anyone who names an auction that is over is shown it as its originator is.',
    file: 'libs/auction/projections/reader/auction-reader.ts',
    symbol: 'ONE',
    replace: [
      'where viewer_id = $2 and auction_id = $1',
      'where (viewer_id = $2 or is_originator) and auction_id = $1 limit 1',
    ],
    also: [
      {
        file: 'libs/auction/projections/reader/auction-reader.ts',
        symbol: 'readState',
        replace: [
          'viewerOf(state, viewerId)',
          'viewerOf(state, viewerId) ?? viewerOf(state, state.terms.originator.account_id)',
        ],
      },
    ],
    promise: /^strangers see nothing/,
  },
  {
    name: 'one-gateway-carries-no-commands',
    mistake: 'The second gateway answers every command with 503; reads and streams are as they should be.',
    file: 'libs/auction/api/owner-router.ts',
    symbol: 'OwnerRouter.ask',
    replace: [
      'if (link === undefined) return ROUTING;',
      `if ('key' in request && process.env.INSTANCE === 'gateway-1') return UNAVAILABLE;
       if (link === undefined) return ROUTING;`,
    ],
    promise: /^everything comes back/,
  },
];

/** Found by the fuzz run: at the edge, where hostile input arrives. */
export const FUZZ_BUGS: readonly BugOnProcesses[] = [
  {
    name: 'signatures-are-not-looked-at',
    mistake: 'Whatever can be read as a token is one, no matter who has signed it.',
    file: 'libs/identity/tokens/token-reader.ts',
    symbol: 'check',
    replace: ['jwt.verify(token, key,', 'decoded?.payload ?? jwt.verify(token, key,'],
    promise: /^a stranger is let in/,
  },
  {
    name: 'logout-ends-nothing',
    mistake: 'What was logged out goes on.',
    file: 'libs/identity/revocation/identity-watch.ts',
    symbol: 'IdentityWatch.stateOf',
    replace: ["if (tokenRevoked || sessionRevoked) return 'refused';", ''],
    promise: /^a stranger is let in/,
  },
  {
    name: 'refused-and-done',
    mistake: 'A group is made although it is refused.',
    file: 'libs/auction/api/account/groups.controller.ts',
    symbol: 'GroupsController.create',
    replace: [
      `if (refusal !== undefined) return refusal;
       const group = { group_id: this.newId(), owner: principal.account_id, ...body };`,
      `const group = { group_id: this.newId(), owner: principal.account_id, ...body };
       if (refusal !== undefined) {
         await this.groups.create({ ...group, name: group.group_id, market_maker_ids: [] });
         return refusal;
       }`,
    ],
    promise: /^something changed although all was refused/,
  },
  {
    name: 'contracts-ask-for-anything',
    mistake: 'The database is asked for names of contracts as they come.',
    file: 'libs/auction/api/registry/contracts.controller.ts',
    symbol: 'name',
    replace: ['text({ printable: true })', 'text()'],
    also: [
      {
        file: 'libs/auction/api/registry/contracts.controller.ts',
        symbol: 'listContractsEndpoint',
        replace: ['text({ maxLength: 64, printable: true })', 'text({ maxLength: 64 })'],
      },
    ],
    promise: /^500 internal_error/,
  },
  {
    name: 'bad-handshake-ends-the-gateway',
    mistake: 'A handshake whose token is none ends the gateway.',
    file: 'libs/edge/server/upgrades.ts',
    symbol: 'Upgrades.answer',
    replace: [
      "if ('kind' in admitted) return dialect.refuse(admitted);",
      `if ('kind' in admitted) {
         if (token !== undefined && token.split('.').length !== 3)
           setTimeout(() => { throw new Error('that is no token'); }, 1);
         return dialect.refuse(admitted);
       }`,
    ],
    promise: /^crash: gateway/,
  },
  {
    name: 'keys-are-read-in-all-ways',
    mistake: 'A key that is wrong at its end is tried in all ways in which it could be right.',
    file: 'libs/edge/exchange/idempotency-key.ts',
    symbol: 'GRAMMAR',
    replace: ['/^[A-Za-z0-9._:-]{1,128}$/', '/^(?=.{1,128}$)(?:[A-Za-z0-9]+[._:-]?)+$/'],
    promise: /^a complete request has no answer|: no answer in/,
  },
];
