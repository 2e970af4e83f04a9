import type { Faults } from '../faults.js';
import type { PracticeVenueId } from '../venue/terms.js';
import type { PracticeVenuePort } from '../venue/venue-reads.js';
import type { VenueRules } from '../venue/venue-state.js';
import { FEES_OF_B } from './b/fees.js';
import { BShell } from './b/shell.js';
import { EShell } from './e/shell.js';
import type { VenueShell } from './venue-shell.js';

export interface VenueKind {
  readonly rules: VenueRules;
  readonly shell: (parts: { readonly venue: PracticeVenuePort; readonly faults: Faults }) => VenueShell;
}

const NO_FEES: VenueRules['fees'] = { fee: () => 0n, most: () => 0n };

/** The practice venues that exist, each with its rules and its protocol. */
export const VENUE_KINDS: Readonly<Record<PracticeVenueId, VenueKind>> = {
  venue_b: {
    rules: { fees: FEES_OF_B, pays_pairs: true, book: 'one' },
    shell: (parts) => new BShell(parts),
  },
  venue_e: {
    rules: { fees: NO_FEES, pays_pairs: false, book: 'a-side' },
    shell: (parts) => new EShell(parts),
  },
};
