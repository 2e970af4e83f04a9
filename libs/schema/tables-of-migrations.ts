/** What each migration that makes any adds to those of before. None has ever been taken away. */
const MADE: Readonly<Record<string, readonly string[]>> = {
  IdentitySchema1790000050000: [
    ...['identity.account_changes', 'identity.enrolments', 'identity.login_failures', 'identity.revocations'],
    ...['identity.sessions', 'identity.signing_keys', 'identity.users', 'identity.version'],
  ],
  JournalSchema1790000100000: ['journal.records', 'journal.shards', 'journal.snapshots'],
  JournalHome1790000101000: ['journal.home'],
  JournalWitness1790000102000: ['journal.witness'],
  JournalRestored1790000104000: ['journal.restored'],
  JournalLife1790000105000: ['journal.life'],
  JournalSeals1790000106000: ['journal.sealed'],
  JournalAccepted1790000107000: ['journal.accepted'],
  JournalHistories1790000108000: ['journal.histories'],
  ControlSchema1790000200000: [
    ...['control.accounts_policy', 'control.contracts', 'control.group_members', 'control.groups'],
    ...['control.halts', 'control.principals', 'control.protection', 'control.protection_awards'],
    ...['control.protection_state', 'control.version'],
  ],
  RiskSchema1790000201000: ['risk.evidence', 'risk.reserved', 'risk.shard_fence'],
  OperatorActions1790000202000: ['control.operator_actions'],
  CustodySchema1790000300000: [
    ...['custody.balances', 'custody.entries', 'custody.limits', 'custody.settlements'],
    'custody.transactions',
  ],
  Openings1790000302000: ['custody.openings'],
  CompletedSchema1790000400000: ['completed.auctions', 'completed.viewers'],
  ExecutionSchema1790000401000: [
    ...['execution.answers', 'execution.events', 'execution.positions', 'execution.quotes'],
  ],
  AuditSchema1790000402000: ['audit.reads'],
};

/** Which tables a database has that has been brought this far, but for those in which migrations themselves are entered. */
export function tablesMadeBy(migrations: readonly string[]): string[] {
  return migrations.flatMap((name) => MADE[name] ?? []).sort();
}
