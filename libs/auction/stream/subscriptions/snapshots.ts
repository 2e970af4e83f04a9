import { auctionView } from '../../rules/told/view.js';
import type { Sight } from '../feed/feed.js';
import type { Part } from '#libs/socket/outbox.js';
import { snapshotMessage } from '../server-messages.js';

/** What a view costs that is not rendered yet; the state behind it is the feed's own, or was a moment ago. */
const SIGHT_BYTES = 64;

/** The messages of one snapshot. `tokenOf` is asked at once for each what it will say of it; the rest is rendered when it leaves. */
export function snapshotParts(
  subscriptionId: string,
  sights: readonly Sight[],
  partSize: number,
  tokenOf: (isLast: boolean) => () => string,
): Part[] {
  const parts = Math.max(1, Math.ceil(sights.length / partSize));
  return Array.from({ length: parts }, (_, index) => {
    const shown = sights.slice(index * partSize, (index + 1) * partSize);
    const isLast = index === parts - 1;
    const token = tokenOf(isLast);
    return {
      size: shown.length * SIGHT_BYTES,
      render: () => snapshotMessage(subscriptionId, shown.map(viewOf), !isLast, token()),
    };
  });
}

function viewOf({ state, viewer }: Sight): string {
  return JSON.stringify(auctionView(state, viewer));
}
