/** The error as the driver throws it: with the code of the server or of the network. */
export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
