/** A number as it was written. Decoders of decimals and of integers read it exactly. */
export class NumberToken {
  constructor(readonly text: string) {}
}
