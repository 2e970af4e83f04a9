import { REGISTERED, type Provider } from './providers.js';

/** What operators switch. The first three are of a provider each, by its name. */
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

/** Whether calls with keys may read trades of a provider. */
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

/** Nothing is hidden, and everything else is on, unless it is said otherwise. */
export function isSetTo(settings: FlagSettings, name: FlagName): boolean {
  return settings.get(name)?.enabled ?? !name.startsWith('provider_hidden_');
}
