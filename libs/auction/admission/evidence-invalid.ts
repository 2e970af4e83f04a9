/**
 * The admission authority contradicted itself about one account. It is a value where many requests are answered together,
 * so that one bad account refuses nobody else, and an error where it is thrown. The caller answers 500 `internal_error`.
 */
export class EvidenceInvalid extends Error {
  readonly ok = false;
  readonly status = 500;
  readonly error = 'internal_error';

  constructor(message: string) {
    super(message);
    this.name = 'EvidenceInvalid';
  }
}
