import type { OrderFailure } from './order.js';

export type Classification = 'expected_user_rejection' | 'retryable' | 'non_retryable';

/** A more specific code for the details of a failed order, where the code alone is not enough. */
const GROUPS: Readonly<Record<string, string>> = {
  FOK_NOT_FILLED: 'MARKET_FOK_NOT_FILLED',
  NO_LIQUIDITY: 'MARKET_NO_LIQUIDITY',
};

const NON_RETRYABLE: ReadonlySet<string> = new Set([
  'AUTH_IDENTITY_MISMATCH',
  'AUTH_INSUFFICIENT_SCOPE',
  'EXCHANGE_AMEND_UNSUPPORTED',
  'EXCHANGE_CANCEL_ALL_UNSUPPORTED',
  'EXCHANGE_BATCH_UNSUPPORTED',
  'EXCHANGE_FEE_QUOTE_UNSUPPORTED',
  'VENUE_ACCOUNT_SUSPENDED',
  'SIGNER_REFUSED',
]);

const RETRYABLE: ReadonlySet<string> = new Set([
  'POSITION_RESERVATION_UNVERIFIED',
  'RATE_LIMITED_ORDERS',
  'RATE_LIMITED_KEY',
  'RATE_LIMITED_CALLS',
  'EXCHANGE_VENUEA_RATE_LIMITED',
  'EXCHANGE_VENUEB_RATE_LIMITED',
  'EXCHANGE_VENUEC_RATE_LIMITED',
  'EXCHANGE_VENUED_RATE_LIMITED',
  'EXCHANGE_VENUEE_RATE_LIMITED',
  'INTERNAL_ERROR',
  'ALLOWANCE_APPROVAL_FAILED',
  'EXCHANGE_TRADING_HALTED',
  'EXCHANGE_CIRCUIT_OPEN',
  'EXCHANGE_UNAVAILABLE',
  'SIGNER_UNAVAILABLE',
  'CELL_UNAVAILABLE',
  'AUTH_ACCESS_UNVERIFIABLE',
  'EXCHANGE_NOT_PLACED',
  'FUNDING_TIMEOUT',
]);

const STATUS: ReadonlyMap<number, readonly string[]> = new Map([
  [403, ['AUTH_IDENTITY_MISMATCH', 'AUTH_INSUFFICIENT_SCOPE', 'AUTH_POLICY_OUTDATED']],
  [404, ['VALIDATION_MARKET_NOT_FOUND', 'ORDER_NOT_FOUND', 'POSITION_NOT_FOUND', 'RPC_PROCEDURE_NOT_FOUND']],
  [429, [...RETRYABLE].filter((code) => code.includes('RATE_LIMITED'))],
  [500, ['INTERNAL_ERROR']],
  [502, ['ALLOWANCE_APPROVAL_FAILED']],
  [
    503,
    [
      ...['EXCHANGE_TRADING_HALTED', 'EXCHANGE_CIRCUIT_OPEN', 'EXCHANGE_UNAVAILABLE', 'SIGNER_UNAVAILABLE'],
      ...['CELL_UNAVAILABLE', 'AUTH_ACCESS_UNVERIFIABLE'],
    ],
  ],
  [
    409,
    [
      ...['VALIDATION_MARKET_CLOSED', 'VALIDATION_MARKET_NOT_SETTLED_ON_CHAIN', 'INSUFFICIENT_BALANCE'],
      ...['INSUFFICIENT_POSITION', 'INSUFFICIENT_ALLOWANCE', 'COMMAND_EXPIRED', 'EXCHANGE_NOT_LINKED'],
      ...['COMBO_NOT_REDEEMABLE', 'POSITION_ALREADY_REDEEMED', 'API_KEY_LIMIT', 'IDEMPOTENCY_KEY_CONFLICT'],
      ...['EXCHANGE_AMEND_UNSUPPORTED', 'EXCHANGE_CANCEL_ALL_UNSUPPORTED', 'EXCHANGE_BATCH_UNSUPPORTED'],
      ...['EXCHANGE_FEE_QUOTE_UNSUPPORTED', 'POSITION_RESERVATION_UNVERIFIED'],
    ],
  ],
]);
const STATUS_OF: ReadonlyMap<string, number> = new Map(
  [...STATUS].flatMap(([status, codes]) => codes.map((code): [string, number] => [code, status])),
);

const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  SLIPPAGE_EXCEEDED: ['adjust_price'],
  POST_ONLY_WOULD_CROSS: ['adjust_price'],
  FOK_NOT_FILLED: ['retry', 'adjust_quantity'],
  NO_LIQUIDITY: ['retry', 'adjust_quantity'],
  ORDER_TOO_SMALL: ['adjust_quantity'],
  INSUFFICIENT_POSITION: ['adjust_quantity'],
  INSUFFICIENT_BALANCE: ['add_funds'],
  FUNDING_CAP_EXCEEDED: ['add_funds'],
  FUNDING_NO_ROUTE: ['add_funds'],
  INSUFFICIENT_ALLOWANCE: ['approve'],
  AUTH_POLICY_OUTDATED: ['update_policies'],
  EXCHANGE_NOT_LINKED: ['link_account'],
  SIGNER_REFUSED: ['retry', 'contact_support'],
  VENUE_ACCOUNT_SUSPENDED: ['contact_support'],
};

/** The HTTP status of a refusal with this code. A code that is listed nowhere means bad input. */
export function statusOf(code: string): number {
  return STATUS_OF.get(code) ?? 400;
}

/** Whether the same command may be tried again. Authoritative, unlike the actions. */
export function classificationOf(code: string): Classification {
  if (RETRYABLE.has(code)) return 'retryable';
  return NON_RETRYABLE.has(code) ? 'non_retryable' : 'expected_user_rejection';
}

export function actionsOf(code: string): readonly string[] {
  return ACTIONS[code] ?? (RETRYABLE.has(code) ? ['retry'] : []);
}

/** The code in its older spelling: PascalCase without the prefix of its area. */
export function legacyCodeOf(code: string): string {
  const words = code.replace(/^(VALIDATION|AUTH|EXCHANGE)_/, '').split('_');
  return words.map((word) => word.slice(0, 1) + word.slice(1).toLowerCase()).join('');
}

/** The failure of an order, as its record shows it. */
export function failureRecord({ code, message }: OrderFailure): Record<string, unknown> {
  const details = { code: GROUPS[code] ?? code, actions: actionsOf(code) };
  return {
    code,
    classification: classificationOf(code),
    details: message === undefined ? details : { ...details, message },
  };
}
