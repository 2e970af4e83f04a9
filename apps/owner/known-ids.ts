import { decodeEvent } from '#libs/auction/rules/event-versions.js';
import type { IdFactory } from '#libs/auction/shard/ids.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';

/**
 * If none of these records opens an auction, the older ones do not matter: their creates are no longer
 * repeated.
 */
const LATEST = 1_000;

/**
 * Ids are derived from the caller's key under ID_KEY. Under another ID_KEY a repeated create would open a
 * second auction, so an owner must not start if its keys did not make the latest auction's id.
 */
export async function checkIdKeys(
  reader: JournalReader,
  { shard, head }: { readonly shard: number; readonly head: number },
  ids: IdFactory,
): Promise<void> {
  const records = await reader.read(shard, Math.max(1, head - LATEST + 1), LATEST);
  for (const { kind, payload } of records.reverse()) {
    if (kind !== 'event') continue;
    const event = decodeEvent(payload);
    if (event.type !== 'AUCTION_OPENED' || event.command === undefined) continue;
    const { auction_id: auctionId, command } = event;
    if (ids.hasNamed(auctionId, command.account_id, command.key)) return;
    const hint = 'set the former key, after a new one if there is one';
    throw new StartFault(
      `ID_KEY is not the key that auction ${auctionId} was named with: ${hint}`,
      EXIT.config,
    );
  }
}
