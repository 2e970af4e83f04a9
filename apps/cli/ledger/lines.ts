export interface BalanceLine {
  readonly account_id: string;
  readonly venue: string;
  readonly asset: string;
  readonly amount_atoms: number;
}

export interface LimitLine {
  readonly account_id: string;
  /** Empty for the limit over all venues. */
  readonly venue: string;
  readonly resource: 'VENUE_POSITION_LIMIT' | 'SERVICE_EXPOSURE_LIMIT';
  readonly amount_atoms: number;
}

export interface OpeningLine extends BalanceLine {
  readonly reference: string;
}

/** Of a resource about which admission asks: whether the ledger's word on it still holds. */
export interface EvidenceLine {
  readonly account_id: string;
  readonly venue: string;
  readonly resource: string;
  readonly asset: string;
  readonly holds: boolean;
}
