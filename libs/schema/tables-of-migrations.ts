/** The tables that each migration adds. No migration has ever removed a table. */
const CREATED: Readonly<Record<string, readonly string[]>> = {
  InitialIdentity1790000050000: [
    ...['identity.account_changes', 'identity.enrolments', 'identity.login_failures', 'identity.revocations'],
    ...['identity.sessions', 'identity.signing_keys', 'identity.users', 'identity.version'],
  ],
  ApiKeys1790000060000: [
    ...['identity.api_access', 'identity.api_key_uses', 'identity.api_keys', 'identity.auth_blocks'],
    'identity.auth_failures',
  ],
  InitialJournal1790000100000: [
    ...['journal.accepted', 'journal.histories', 'journal.home', 'journal.life', 'journal.records'],
    ...['journal.restored', 'journal.sealed', 'journal.shards', 'journal.snapshots', 'journal.witness'],
  ],
  InitialAdmission1790000200000: [
    ...['control.accounts_policy', 'control.contracts', 'control.group_members', 'control.groups'],
    ...['control.halts', 'control.operator_actions', 'control.principals', 'control.protection'],
    ...['control.protection_awards', 'control.protection_state', 'control.version'],
    ...['risk.evidence', 'risk.reserved', 'risk.shard_fence'],
  ],
  InitialCustody1790000300000: [
    ...['custody.balances', 'custody.entries', 'custody.limits', 'custody.openings', 'custody.settlements'],
    ...['custody.booked', 'custody.booking_offsets', 'custody.transactions', 'custody.transfers'],
  ],
  Switches1790000470000: ['execution_control.operator_actions', 'execution_control.switches'],
  CellCount1790000480000: ['execution_control.cell_count'],
  InitialProjections1790000400000: [
    ...['audit.reads', 'completed.auctions', 'completed.viewers'],
    ...[
      'auction_history.answers',
      'auction_history.events',
      'auction_history.projection_offsets',
      'auction_history.quotes',
    ],
  ],
  InitialExecution1790000450000: [
    ...['execution.events', 'execution.fills', 'execution.holdings', 'execution.orders'],
    'execution.projection_offsets',
  ],
  InitialData1790000600000: [
    ...['data.alarms', 'data.backfills', 'data.books', 'data.busts', 'data.candles', 'data.cursors'],
    ...['data.flags', 'data.freshness', 'data.identities', 'data.identity_offsets', 'data.market_ids'],
    ...['data.markets', 'data.offsets', 'data.pauses', 'data.quarantine', 'data.recorded_files'],
    ...[
      'data.resolutions',
      'data.sequences',
      'data.statuses',
      'data.dropped',
      'data.ticks',
      'data.trades',
      'data.waiting',
    ],
  ],
  CallCounts1790000610000: ['data.call_counts'],
  Snapshots1790000630000: ['data.snapshot_markets', 'data.snapshots'],
  Start1790000660000: ['data.start'],
  InitialSigner1790000460000: ['signer.keys', 'signer.signatures'],
  ReadSignatures1790000495000: ['signer.read_signatures'],
};

/** The tables of a database after these migrations, without the tables that list the migrations. */
export function tablesMadeBy(migrations: readonly string[]): string[] {
  return migrations.flatMap((name) => CREATED[name] ?? []).sort();
}
