/** What the journal holds of who is who and of what may be told to whom, beside what raw-events.ts has of trade. */
export interface RawParty {
  readonly account_id: string;
  readonly display_name: string;
  readonly alias: string;
}

export interface RawDisclosure {
  readonly originator: RawParty;
  readonly audience: readonly RawParty[];
  readonly identity_policy: {
    readonly originator: 'ANONYMOUS' | 'DISCLOSED' | 'WINNER_ONLY';
    readonly market_makers: 'ANONYMOUS' | 'DISCLOSED_AFTER_AWARD';
  };
  readonly result_disclosure: 'OWN_RESULT' | 'WINNING_PRICE' | 'WINNING_PRICE_AND_RANK';
  readonly client_reference?: string;
}

/** Of a quote, beside its terms. */
export interface RawNotes {
  readonly client_reference?: string;
  readonly submitted_at: string;
}

/** What a refused call was, and why it was refused in words. */
export interface RawRefusal {
  readonly operation?: string;
  readonly message?: string;
}
