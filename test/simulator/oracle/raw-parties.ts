/** Parties and their disclosure in the journal, in addition to the trading fields in raw-events.ts. */
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

/** Fields of a quote besides its terms. */
export interface RawNotes {
  readonly client_reference?: string;
  readonly submitted_at: string;
}

/** A refused command, and the text of its refusal. */
export interface RawRefusal {
  readonly operation?: string;
  readonly message?: string;
}
