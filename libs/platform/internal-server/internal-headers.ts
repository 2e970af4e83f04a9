/** Shown by each of our processes when it opens a link. */
export const SERVICE_TOKEN_HEADER = 'x-service-token';
/** The name of the process that opens a link. */
export const PEER_HEADER = 'x-auction-peer';
/** How a gateway wants the lists and auctions that it reads. */
export const ACTIVE_ONLY_HEADER = 'x-auction-active-only';
export const READ_FALLBACK_HEADER = 'x-auction-owner-read-fallback';

/** Only our own processes may send these. A request from outside that carries one is refused. */
export const INTERNAL_HEADERS: readonly string[] = [
  SERVICE_TOKEN_HEADER,
  PEER_HEADER,
  ACTIVE_ONLY_HEADER,
  READ_FALLBACK_HEADER,
];
