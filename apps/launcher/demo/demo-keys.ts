import { createHmac } from 'node:crypto';
import type { EnteredKey } from '#libs/identity/api-keys/enter-api-keys.js';
import { PRESETS, type Preset } from '#libs/identity/api-keys/scopes.js';
import type { DemoAccount } from './demo-accounts.js';

type DemoKey = Pick<EnteredKey, 'name' | 'preset' | 'scopes' | 'ip_allow_list' | 'isRevoked'>;

const OF_EVERY_TRADER: readonly DemoKey[] = (['readonly', 'trading'] as const).map((preset: Preset) => ({
  name: preset,
  preset,
  scopes: PRESETS[preset],
}));
/** Only operators can make such keys. They show scopes, address lists and revocation. */
const OF_THE_FIRST: readonly DemoKey[] = [
  { name: 'wildcard', scopes: ['*'] },
  { name: 'shorthand', scopes: ['trade'] },
  { name: 'bare', scopes: [] },
  { name: 'trades', scopes: ['trade:read'] },
  { name: 'positions', scopes: ['position:read'] },
  { name: 'listed', scopes: PRESETS.trading, ip_allow_list: ['127.0.0.7'] },
  { name: 'revoked', scopes: PRESETS.trading, isRevoked: true },
];

/** Derived from the cluster's secret: the same at every start, and different in every cluster. */
export function demoKeys(accounts: readonly DemoAccount[], secret: string): EnteredKey[] {
  return accounts.flatMap(({ account_id, email, trading }) => {
    if (trading === undefined) return [];
    const keys = email.startsWith('trader-1@') ? [...OF_EVERY_TRADER, ...OF_THE_FIRST] : OF_EVERY_TRADER;
    return keys.map((key) => {
      const hex = (what: string): string =>
        createHmac('sha256', secret).update(`sotto demo key ${email} ${key.name} ${what}`).digest('hex');
      return {
        ...key,
        account_id,
        client_id: `sotto_ck_${hex('id').slice(0, 24)}`,
        api_key: hex('key'),
        api_secret: hex('secret'),
      };
    });
  });
}
