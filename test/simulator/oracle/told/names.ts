import type { RawParty } from '../raw-parties.js';
import type { Picture } from './picture.js';
import type { Shown } from './shown.js';

export function originatorFor(picture: Picture, maker: string): Shown {
  const { originator } = picture.file.terms;
  return named(originator, isOriginatorKnownTo(picture, maker));
}

/** A winner, as the originator sees it. */
export function winnerFor({ file: { terms } }: Picture, maker: string): Shown {
  const party = terms.audience.find(({ account_id: account }) => account === maker);
  if (party === undefined) return {};
  return named(party, terms.identity_policy.market_makers === 'DISCLOSED_AFTER_AWARD');
}

function named({ account_id: id, display_name: name, alias }: RawParty, isKnown: boolean): Shown {
  return isKnown ? { id, display_name: name } : { alias };
}

export function isOriginatorKnownTo(picture: Picture, maker: string): boolean {
  const { originator: policy } = picture.file.terms.identity_policy;
  return policy === 'DISCLOSED' || (policy === 'WINNER_ONLY' && picture.awardOf(maker) !== undefined);
}
