import { VENUE_IDS, type VenueId } from '../rules/venues.js';

/** Random bytes, for ids that cannot be guessed. */
export type RandomBytes = (size: number) => Uint8Array;

const UUID_BYTES = 16;
const VENUE_LETTERS = 'abcde';

/** UUIDs of version 8. The first digit names the cell and the second the venue, so an id alone shows where to ask. */
export class OrderIds {
  constructor(
    private readonly cell: number,
    private readonly random: RandomBytes,
  ) {}

  order(venue: VenueId): string {
    return this.uuid(`${this.cell.toString(16)}${VENUE_LETTERS[VENUE_IDS.indexOf(venue)] ?? 'a'}`);
  }

  any(): string {
    return this.uuid('');
  }

  private uuid(prefix: string): string {
    const hex = prefix + Buffer.from(this.random(UUID_BYTES)).toString('hex').slice(prefix.length);
    const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
    const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`];
    return [...parts, `${variant}${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
  }
}
