import { PROVIDER_FACTS, providerOfNumber, REGISTERED, type Provider } from '../../rules/providers.js';
import { unknownProviderDetail } from '../refusals.js';
import { problem, providerName, type ProviderRules, type TextKind } from '../text-kinds.js';

export interface ProviderAsSent {
  readonly provider: Provider;
  /** As the caller wrote it: where it turns out to be unknown after all, that is what the refusal names. */
  readonly raw: string;
}

export function providerAsSent(rules: ProviderRules): TextKind<ProviderAsSent> {
  const kind = providerName(rules);
  return {
    read(given) {
      const read = kind.read(given);
      return 'value' in read ? { value: { provider: read.value, raw: given } } : read;
    },
    describe: () => kind.describe(),
  };
}

const INTEGER = /^-?[0-9]+$/;

/** By its number. */
export const providerNumber: TextKind<Provider> = {
  read(given) {
    if (!INTEGER.test(given)) return problem('int_parsing', 'It must be a whole number');
    const value = providerOfNumber(Number(given));
    return value === undefined ? { refused: unknownProviderDetail(given) } : { value };
  },
  describe: () => ({
    type: 'integer',
    enum: REGISTERED.flatMap((provider) => PROVIDER_FACTS[provider].numericId ?? []),
  }),
};
