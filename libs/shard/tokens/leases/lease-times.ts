/** How long a holder may take from a lease, counted from when it asked for it. */
export const LEASE_MILLIS = 10_000;
/**
 * When the home takes a lease to be over of which it hears nothing, counted from when it gave it. That was after the holder asked,
 * and no two clocks of ours drift apart by a tenth.
 */
export const LEASE_IS_OVER_MILLIS = 11_000;
