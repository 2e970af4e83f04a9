import { SystemClock } from '#libs/platform/time/system-clock.js';
import { describeVenue, type VenueSubject } from '#libs/testing/contracts/venue.contract.js';
import { openSigner } from '#libs/testing/execution/open-signer.js';
import { openPracticeB } from '#libs/testing/practice-b.js';
import { VAULT_USER } from '../../protocol/signer-protocol.js';
import { VenueB } from './venue-b.js';

const OF_B = { exchange_id: 'venue_b' };

async function openSubject(): Promise<VenueSubject> {
  const [practice, { signer, close }] = await Promise.all([openPracticeB(), openSigner()]);
  const base = 'http://127.0.0.1';
  const settings = {
    url: `${base}:${practice.open.port}/trade-api/v2`,
    accounts_url: `${base}:${practice.admin.port}`,
  };
  const venue = new VenueB({ settings, signer, clock: new SystemClock() });
  const vault = await venue.open(VAULT_USER);
  const call = async (at: string, body: object): Promise<void> => {
    await practice.call('POST', at, body);
  };
  return {
    ...{ venue, vault, collateral: 'USD' },
    fund: (account, amount) => call('/faucet', { ...OF_B, account, amount }),
    market: () => practice.market(),
    setStatus: (id, status) => call(`/markets/venue_b/${id}/status`, { status }),
    resolve: (id, payouts) => call(`/markets/venue_b/${id}/resolve`, { payouts }),
    fault: (fault, calls) => call('/faults', { ...OF_B, fault, ...(calls.length === 0 ? {} : { calls }) }),
    close: async () => {
      venue.close();
      await practice.close();
      await close();
    },
  };
}

describeVenue('venue b through its adapter', openSubject);
