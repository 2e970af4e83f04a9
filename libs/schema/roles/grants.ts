import { databaseRoles, PROCESSES } from '#libs/platform/processes/catalogue.js';

/** The processes that have a database role of their own. The table role does migrations, rebuilds and moves of journals. */
export const DATABASE_ROLES = [...new Set([...databaseRoles(PROCESSES), 'operations'] as const)];

export type DatabaseRole = (typeof DATABASE_ROLES)[number];

/**
 * Columns are in parentheses where the privilege does not cover all of them. No role may write a number or a time that the
 * database assigns, unless a release that may still run writes it; then a trigger assigns it.
 */
export type Privilege =
  | 'select'
  | `select (${string})`
  | 'insert'
  | `insert (${string})`
  | 'update'
  | `update (${string})`
  | 'delete';

export type TableGrants = Readonly<Partial<Record<DatabaseRole, readonly Privilege[]>>>;

const READ = ['select'] as const;
const UPSERT = ['select', 'insert', 'update'] as const;
const ALL = ['select', 'insert', 'update', 'delete'] as const;

/** Tables that a process reads to verify or to rebuild: see `npm run journal -- verify`. */
const PROJECTED: TableGrants = { owner: READ, gateway: READ, projector: ALL, operations: READ };
/** Tables of market data: only ingest writes them, and the data gateway reads them. */
const OF_INGEST: TableGrants = { ingest: ALL, data: READ, operations: READ };
const REQUESTS: TableGrants = { ingest: ALL, data: ALL, operations: READ };
const OF_CELLS: TableGrants = { gateway: READ, projector: ALL, operations: READ };

/**
 * Everything that each process may do with each table, and nothing else. A new table or statement needs an entry here.
 * `truncate`, and everything that is not named, is for the table role only.
 */
export const GRANTS: Readonly<Record<string, TableGrants>> = {
  'identity.version': { gateway: READ, data: READ, operations: READ },
  'identity.users': {
    gateway: READ,
    data: ['select (account_id, email, display_name, disabled)'],
    operations: UPSERT,
  },
  'identity.enrolments': { gateway: READ, data: READ, operations: ALL },
  'identity.account_changes': { gateway: READ, data: READ },
  'identity.sessions': {
    gateway: ['select', 'insert', 'delete'],
    data: READ,
    operations: READ,
  },
  'identity.revocations': {
    gateway: ['select', 'insert', 'delete'],
    data: READ,
    operations: ['select', 'insert'],
  },
  'identity.signing_keys': { gateway: ['select', 'insert', 'delete'], data: READ },
  'identity.login_failures': { gateway: ['select', 'insert', 'delete'] },
  'identity.api_keys': {
    gateway: [
      'select',
      'insert (client_id, account_id, name, preset, scopes, ip_allow_list, orders_per_minute, expires_at, digest)',
      'update (name, ip_allow_list, orders_per_minute, expires_at, digest, previous_digest, previous_valid_until, revoked_at)',
    ],
    data: READ,
    operations: READ,
  },
  'identity.api_key_uses': { gateway: UPSERT, data: UPSERT, operations: READ },
  'identity.api_access': {
    gateway: [
      'select',
      'insert (provider, enabled, set_by, reason)',
      'update (enabled, set_by, reason, set_at)',
    ],
    data: READ,
    operations: READ,
  },
  'identity.auth_failures': { gateway: ['select', 'delete'], data: ['select', 'delete'] },
  'identity.auth_blocks': { gateway: ['select', 'delete'], data: ['select', 'delete'] },

  'control.version': { owner: READ, gateway: READ },
  'control.contracts': { owner: READ, gateway: READ },
  'control.principals': { owner: READ, gateway: READ, operations: UPSERT },
  'control.accounts_policy': { owner: READ, gateway: READ, operations: UPSERT },
  'control.halts': {
    owner: READ,
    gateway: [
      'select',
      'insert (halt_id, scope, target, what, reason, created_by, created_at)',
      'update (lifted_by, lifted_at)',
    ],
  },
  'control.operator_actions': {
    gateway: [
      'select',
      'insert (action_id, operator, action, target, halt, reason, request_id, outcome, error)',
    ],
  },
  'control.groups': { owner: READ, gateway: ALL },
  'control.group_members': { owner: READ, gateway: ALL },
  'control.protection': { owner: READ, gateway: ALL },
  'control.protection_awards': { owner: ALL, gateway: READ },
  'control.protection_state': { owner: ALL, gateway: ['select', 'delete'] },

  'risk.evidence': { owner: READ, settler: UPSERT, operations: READ },
  'risk.reserved': { owner: UPSERT, operations: READ },
  'risk.shard_fence': { owner: UPSERT, operations: READ },

  'custody.balances': { settler: READ, gateway: READ, operations: READ },
  'custody.transactions': { gateway: READ, operations: READ },
  'custody.entries': { gateway: READ, operations: READ },
  'custody.openings': { gateway: READ, operations: READ },
  'custody.settlements': {
    owner: ['select', 'insert (award_id, outcome, reason, recorded_at)'],
    settler: READ,
    gateway: READ,
    operations: READ,
  },
  'custody.booking_offsets': { projector: UPSERT, gateway: READ, operations: READ },
  'custody.booked': { projector: UPSERT, operations: READ },
  'custody.transfers': { cell: READ, gateway: READ, operations: READ },
  'custody.limits': { settler: READ, operations: READ },

  'journal.shards': {
    cell: UPSERT,
    ingest: UPSERT,
    owner: UPSERT,
    gateway: READ,
    projector: READ,
    operations: READ,
  },
  'journal.records': {
    cell: ['select', 'insert (family, shard, sequence, epoch, kind, payload, hash, seal)'],
    ingest: ['select', 'insert (family, shard, sequence, epoch, kind, payload, hash, seal)'],
    owner: ['select', 'insert (family, shard, sequence, epoch, kind, payload, hash, seal)'],
    gateway: READ,
    projector: READ,
    operations: READ,
  },
  'journal.home': {
    cell: ['select', 'insert (family, cluster_id, topic_prefix)'],
    ingest: ['select', 'insert (family, cluster_id, topic_prefix)'],
    owner: ['select', 'insert (family, cluster_id, topic_prefix)'],
    gateway: READ,
    projector: READ,
    operations: READ,
  },
  'journal.snapshots': {
    cell: ALL,
    owner: ALL,
    gateway: READ,
    projector: READ,
    operations: READ,
  },
  'journal.restored': {
    cell: ['select', 'delete'],
    ingest: ['select', 'delete'],
    owner: ['select', 'delete'],
    gateway: READ,
    projector: READ,
    settler: READ,
    operations: READ,
  },
  'journal.accepted': { cell: UPSERT, ingest: UPSERT, owner: UPSERT, operations: READ },
  'journal.life': { cell: READ, ingest: READ, owner: READ, gateway: READ, operations: READ },
  'journal.sealed': {
    cell: ['select', 'insert (family, shard, sequence)'],
    ingest: ['select', 'insert (family, shard, sequence)'],
    owner: ['select', 'insert (family, shard, sequence)'],
    operations: READ,
  },
  'journal.histories': { owner: ['select', 'insert'], operations: READ },
  'journal.witness': {
    cell: UPSERT,
    ingest: UPSERT,
    owner: UPSERT,
    gateway: READ,
    projector: READ,
    operations: READ,
  },

  'completed.auctions': PROJECTED,
  'completed.viewers': PROJECTED,

  'auction_history.projection_offsets': PROJECTED,
  'auction_history.events': PROJECTED,
  'auction_history.quotes': PROJECTED,
  'auction_history.answers': PROJECTED,

  'execution_control.switches': {
    gateway: [
      'select',
      'insert (exchange_id, side, kind, time_in_force, user_id, mode, resumes_at)',
      'update (mode, resumes_at)',
    ],
    cell: READ,
    operations: READ,
  },
  'execution_control.operator_actions': {
    gateway: ['select', 'insert (operator, action, input, reason, request_id)'],
    operations: READ,
  },
  'execution_control.cell_count': { cell: ['select', 'insert (cells)'], operations: READ },

  'signer.keys': { signer: ['select', 'insert', 'update'], operations: READ },
  'signer.signatures': {
    signer: ['select', 'insert (user_id, venue, key_id, order_id, content, body_sha256, digest, written_at)'],
    operations: READ,
  },
  'signer.read_signatures': {
    signer: ['select', 'insert (user_id, venue, key_id, content, digest, written_at)', 'delete'],
    operations: READ,
  },

  'execution.projection_offsets': OF_CELLS,
  'execution.orders': OF_CELLS,
  'execution.events': OF_CELLS,
  'execution.fills': OF_CELLS,
  'execution.holdings': OF_CELLS,

  'data.offsets': OF_INGEST,
  'data.markets': OF_INGEST,
  'data.market_ids': OF_INGEST,
  'data.statuses': OF_INGEST,
  'data.resolutions': OF_INGEST,
  'data.trades': OF_INGEST,
  'data.candles': OF_INGEST,
  'data.busts': OF_INGEST,
  'data.sequences': OF_INGEST,
  'data.ticks': OF_INGEST,
  'data.dropped': { ingest: READ, data: READ, operations: READ },
  'data.waiting': OF_INGEST,
  'data.identity_offsets': OF_INGEST,
  'data.identities': OF_INGEST,
  'data.cursors': OF_INGEST,
  'data.recorded_files': OF_INGEST,
  'data.start': OF_INGEST,
  'data.books': OF_INGEST,
  'data.freshness': OF_INGEST,
  'data.alarms': {
    ingest: ALL,
    data: ['select', 'insert (provider, kind, at, detail)', 'delete'],
    operations: READ,
  },
  'data.quarantine': OF_INGEST,
  'data.snapshots': OF_INGEST,
  'data.snapshot_markets': OF_INGEST,
  'data.pauses': REQUESTS,
  'data.backfills': REQUESTS,
  'data.call_counts': { data: ['select', 'insert (replica, calls)', 'delete'] },
  'data.flags': { ingest: READ, data: ALL, operations: READ },

  'audit.reads': {
    gateway: ['select', 'insert (reader_id, request_id, gateway, what, auction_ids, status)'],
  },

  'meta.migration': {},
  'meta.generation': {
    cell: READ,
    data: READ,
    ingest: READ,
    signer: READ,
    owner: READ,
    gateway: READ,
    projector: READ,
    settler: READ,
    operations: READ,
  },
};

export const SCHEMAS: readonly string[] = [
  ...new Set(Object.keys(GRANTS).map((table) => table.split('.')[0] ?? '')),
];

/** Functions that only some roles may call. */
export const CALLS: Readonly<Record<string, readonly DatabaseRole[]>> = {
  'data.drop_months(bigint)': ['ingest'],
  'data.make_months(text, bigint[])': ['ingest'],
  'identity.count_auth_failure(text)': ['gateway', 'data'],
  'custody.lock_balances(text[], text[], text[])': ['settler'],
  'custody.claim_settlement(uuid)': ['settler'],
  'custody.post_settlement(uuid, text, text, bigint, text[], text[], bigint[])': ['settler'],
  'custody.book(text[], text[], integer[], text[], text[], text[], text[], text[], bigint[])': ['projector'],
  'custody.hold_transfer(uuid, text, text, text, bigint)': ['cell', 'projector'],
  'custody.send_transfer(uuid)': ['projector'],
  'custody.end_transfer(uuid, boolean)': ['cell', 'projector'],
  'custody.receive_transfer(uuid, text, text, text, bigint)': ['projector'],
};

/** Comparing projections makes them again in temporary tables of the session. */
export const MAY_MAKE_TEMPORARY: readonly DatabaseRole[] = ['operations'];
