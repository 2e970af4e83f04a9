import { bind, endpoint, type BoundEndpoint } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { CASH_OUT_QUOTE } from '../credentials-check.js';
import { emptyReply, NO_BODY, refusal } from '../refusals.js';
import { exchangeId, openBody } from '../shapes.js';

const NO_MARKET = refusal('VALIDATION_MARKET_NOT_FOUND', 'No registered venue has this');
const anyBody = openBody({});

type Row = readonly [operationId: string, method: 'GET' | 'POST', path: string, capability: string];

/** Calls that need a venue on a chain. They are in the contract, but no registered venue supports them. */
const ABSENT: readonly Row[] = [
  ['splitTokens', 'POST', '/exchanges/:exchange_id/ctf/split', 'trade:execute'],
  ['mergeTokens', 'POST', '/exchanges/:exchange_id/ctf/merge', 'trade:execute'],
  ['redeemTokens', 'POST', '/exchanges/:exchange_id/redeem', 'trade:execute'],
  ['quoteCombo', 'POST', '/combo/quote', 'trade:read'],
  ['listComboPositions', 'GET', '/combo/positions', 'position:read'],
  ['executeCombo', 'POST', '/combo/execute', 'trade:execute'],
  ['quoteComboCashOut', 'POST', CASH_OUT_QUOTE, 'position:read'],
  ['cashOutCombo', 'POST', '/combo/cash-out', 'trade:execute'],
  ['redeemCombo', 'POST', '/combo/redeem', 'trade:execute'],
];

export function chainEndpoints(): readonly BoundEndpoint[] {
  const absent = ABSENT.map(([operationId, method, path, capability]) =>
    bound({ operationId, method, path, capability }, NO_MARKET, 'VALIDATION_MARKET_NOT_FOUND'),
  );
  const path = '/exchanges/:exchange_id/allowances';
  const allowances = {
    operationId: 'approveAllowances',
    method: 'POST',
    path,
    capability: 'trade:execute',
  } as const;
  return [...absent, bound(allowances, emptyReply(404), NO_BODY)];
}

function bound(
  {
    operationId,
    method,
    path,
    capability,
  }: {
    readonly operationId: string;
    readonly method: 'GET' | 'POST';
    readonly path: string;
    readonly capability: string;
  },
  answer: Reply,
  code: string,
): BoundEndpoint {
  const spec = endpoint({
    ...{ operationId, method, path, capability, access: 'session' },
    ...(path.includes(':') ? { ids: { exchange_id: exchangeId } } : {}),
    ...(method === 'POST' ? { body: anyBody } : {}),
    summary: 'For venues on a chain. No registered venue supports it',
    statuses: { 404: [code] },
  });
  return bind(spec, () => answer);
}
