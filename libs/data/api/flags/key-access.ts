import { accessFlag, isSetTo } from '../../rules/flags.js';
import { REGISTERED, type Provider } from '../../rules/providers.js';
import type { DataCaller } from '../callers.js';
import { refuse } from '../refusals.js';
import type { KnownFlags } from './known-flags.js';

const UNVERIFIABLE = 'Unable to verify platform API access';

/** Whether keys may read what a provider's users do; sessions and operators always may. What cannot be verified is not allowed. */
export class KeyAccess {
  constructor(private readonly flags: Pick<KnownFlags, 'verified'>) {}

  async check(caller: Pick<DataCaller, 'kind'> | undefined, provider: Provider): Promise<void> {
    if (caller?.kind !== 'key') return;
    const settings = await this.flags.verified();
    if (settings === undefined) throw refuse(503, UNVERIFIABLE);
    if (isSetTo(settings, accessFlag(provider))) return;
    const reason = settings.get(accessFlag(provider))?.reason ?? '';
    throw refuse(403, `API access is disabled for ${provider}${reason === '' ? '' : `: ${reason}`}`);
  }

  /** Those that keys may read, by id. */
  async allowed(): Promise<readonly Provider[]> {
    const settings = await this.flags.verified();
    if (settings === undefined) throw refuse(503, UNVERIFIABLE);
    return REGISTERED.filter((provider) => isSetTo(settings, accessFlag(provider)));
  }
}
