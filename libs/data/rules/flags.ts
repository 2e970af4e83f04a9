import { REGISTERED, type Provider } from './providers.js';

/** The flags that operators can set. The first three exist once per provider. */
export type FlagName =
  | `api_access_${Provider}_enabled`
  | `provider_active_${Provider}`
  | `provider_hidden_${Provider}`
  | 'native_pnl_pipeline';

export interface FlagSetting {
  readonly enabled: boolean;
  readonly reason: string | null;
  /** Microseconds. */
  readonly updatedAt: number;
}

export type FlagSettings = ReadonlyMap<FlagName, FlagSetting>;

/** Whether calls with API keys may read a provider's trades. */
export function accessFlag(provider: Provider): FlagName {
  return `api_access_${provider}_enabled`;
}

/** Whether a provider is offered: its active markets and their metadata. */
export function activeFlag(provider: Provider): FlagName {
  return `provider_active_${provider}`;
}

/** Whether a provider's rows are left out of lists. */
export function hiddenFlag(provider: Provider): FlagName {
  return `provider_hidden_${provider}`;
}

const FLAG_NAMES: readonly FlagName[] = [
  ...REGISTERED.flatMap((provider) => [accessFlag(provider), activeFlag(provider), hiddenFlag(provider)]),
  'native_pnl_pipeline',
];

export function flagNamed(name: string): FlagName | undefined {
  return FLAG_NAMES.find((known) => known === name);
}

/** By default nothing is hidden, and every other flag is on. */
export function isSetTo(settings: FlagSettings, name: FlagName): boolean {
  return settings.get(name)?.enabled ?? !name.startsWith('provider_hidden_');
}
