/** The clock by which halts are dated. */
export const OPERATOR_CLOCK = Symbol('operator clock');
