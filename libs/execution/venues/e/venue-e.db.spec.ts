import { SystemClock } from '#libs/platform/time/system-clock.js';
import { describeVenue, type VenueSubject } from '#libs/testing/contracts/venue.contract.js';
import { openSigner } from '#libs/testing/execution/open-signer.js';
import { openPracticeE } from '#libs/testing/practice-e.js';
import { VAULT_USER } from '../../protocol/signer-protocol.js';
import { VenueE } from './venue-e.js';

const OF_E = { exchange_id: 'venue_e' };

async function openSubject(): Promise<VenueSubject> {
  const [practice, { signer, close }] = await Promise.all([openPracticeE(), openSigner()]);
  const venue = new VenueE({ settings: { url: practice.url }, signer, clock: new SystemClock() });
  const vault = await venue.open(VAULT_USER);
  const call = async (at: string, body: object): Promise<void> => {
    await practice.call('POST', at, body);
  };
  return {
    ...{ venue, vault, collateral: 'USDC' },
    fund: (account, amount) => call('/faucet', { ...OF_E, account, amount }),
    market: async () => String(await practice.market()),
    setStatus: (id, status) => call(`/markets/venue_e/${id}/status`, { status }),
    resolve: (id, payouts) => call(`/markets/venue_e/${id}/resolve`, { payouts }),
    fault: (fault, calls) => call('/faults', { ...OF_E, fault, ...(calls.length === 0 ? {} : { calls }) }),
    close: async () => {
      venue.close();
      await practice.close();
      await close();
    },
  };
}

describeVenue('venue e through its adapter', openSubject);
